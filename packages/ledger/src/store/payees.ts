/**
 * Whom the payments of the ledger pay, in words: a directory that is small beside the payments. An id of the service or a
 * mark says nothing to a person, and only a mark can be compared if the texts are encrypted. No account number beyond its
 * last four characters.
 */
import type { Payee } from "./ledger.ts";
import { PAYEES } from "./schema.ts";
import type { Store } from "./store.ts";

export const savePayee = PAYEES.saver({}, (name) =>
  name === "mark" ? "coalesce(excluded.mark, payees.mark)" : undefined,
);

/** The directory of payees. */
export const payeeMethods = (store: Store) => ({
  /** Keeps how payees are described. */
  rememberPayees: (account: string, payees: ReadonlyArray<Omit<Payee, "account" | "seenAt">>) => {
    const seenAt = Date.now();
    return store.save(
      `payees ${account}`,
      payees.map((payee) => savePayee({ ...payee, account, seenAt }, store.seal)),
    );
  },
  /** Returns the payees of an account, or of all. `payees` are ids or marks. */
  payees: (filter: { readonly account?: string; readonly payees?: ReadonlyArray<string> } = {}) =>
    store.all(
      PAYEES,
      { "account = ?": filter.account, payee: filter.payees },
      "ORDER BY account, payee",
    ),
});
