import { hash } from "node:crypto";

/** An account with the service: its client id, and the address that distinguishes test from production. */
export interface Account {
  readonly clientId: string;
  readonly baseUrl: string;
}

const short = (text: string): string => hash("sha256", text).slice(0, 16);

/** Identifies an account without giving its name away: 16 hex digits of a SHA-256 hash of the client id and the address. */
export const accountHash = ({ baseUrl, clientId }: Account): string => {
  const { host, pathname } = new URL(baseUrl);
  return short(JSON.stringify([clientId, host, pathname.replace(/\/+$/, "")]));
};

/** Identifies a client, whatever the address by which the service is reached: the default ledger is named by it. */
export const clientHash = ({ clientId }: Pick<Account, "clientId">): string => short(clientId);
