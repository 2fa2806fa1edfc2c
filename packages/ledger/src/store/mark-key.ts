import { createHmac, randomBytes } from "node:crypto";
import type { Store } from "./store.ts";
import { query } from "./table.ts";

/**
 * The key of marks. The ledger marks the account of a payee by a hash, so that equal accounts can be found without their
 * numbers. A person who has a copy of the ledger and guesses an IBAN could compute a plain hash, and find its payments.
 * So an encrypted ledger keys its marks with a random key that is kept in it, encrypted by the keyring. A rotation of the
 * keyring does not change them, and a copy of the ledger has them.
 *
 * @returns the function that keys a mark; it returns the mark itself if the ledger is not encrypted.
 * @throws LedgerUnavailable if the ledger has such a key, and is opened without a keyring.
 */
export const openMarks = async (store: Store): Promise<(mark: string) => string> => {
  const { open, seal } = store.seal;
  const read = async () => (await store.find(query("SELECT mark_key FROM meta")))[0]?.["mark_key"];
  const made = randomBytes(32).toString("base64");
  const sealed = seal(made);
  let kept = await read();
  if (typeof kept !== "string") {
    if (sealed === made) return (mark) => mark;
    // If several workers start at once, the key of the first one counts.
    await store.save(null, [query("UPDATE meta SET mark_key = $1 WHERE mark_key IS NULL", sealed)]);
    kept = await read();
  }
  const key = open(String(kept));
  return (mark) => createHmac("sha256", key).update(mark).digest("hex").slice(0, mark.length);
};
