import { createHash } from "node:crypto";

/** An account with the service: its client id, and the address that distinguishes test from production. */
export interface Account {
  readonly clientId: string;
  readonly baseUrl: string;
}

/**
 * Identify an account without giving its name away. Runs are pinned to it, and trackers and sign-in
 * leases are named by it.
 *
 * @returns 16 hex digits of a SHA-256 hash of the client id and the address.
 */
export const accountHash = ({ baseUrl, clientId }: Account): string => {
  const { host, pathname } = new URL(baseUrl);
  return createHash("sha256")
    .update(JSON.stringify([clientId, host, pathname.replace(/\/+$/, "")]))
    .digest("hex")
    .slice(0, 16);
};

/**
 * Identify a client, whatever the address by which the service is reached: journals are kept by it. A
 * service that gets another name is the same one, and what was sent to it was sent.
 *
 * @returns 16 hex digits of a SHA-256 hash of the client id.
 */
export const clientHash = ({ clientId }: Pick<Account, "clientId">): string =>
  createHash("sha256").update(clientId).digest("hex").slice(0, 16);
