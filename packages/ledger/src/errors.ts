/** The ledger cannot be read or written. Nothing was sent, and nothing is sent until it can. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** Returns the message of an error of any kind. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
