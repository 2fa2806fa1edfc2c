import { isRecord } from "@durable-payments/api-core/values";
import { hash } from "node:crypto";

/** Returns JSON whose fields are in the order of their names: two equal values give the same text. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** Returns the SHA-256 of a value's canonical JSON, in hex. */
export const hashOf = (value: unknown): string => hash("sha256", canonicalJson(value));

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

/** What a name of an account looks like, for a message. */
export const ACCOUNT_NAME_RULE =
  "1 to 40 lower-case letters, digits and dashes, beginning with a letter or digit";
