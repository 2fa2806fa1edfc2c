/** Encrypts the ledger's texts, and decrypts them. */
export interface Seal {
  readonly seal: (text: string) => string;
  /** @throws where the text was sealed with a key that is not at hand. */
  readonly open: (text: string) => string;
}

/** Keeps texts in plain. */
export const UNSEALED: Seal = { seal: (text) => text, open: (text) => text };
