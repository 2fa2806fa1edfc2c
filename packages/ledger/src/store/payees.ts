/**
 * Descriptions of the payees: a directory that is much smaller than the payments. A person cannot read an id of the
 * service or a mark, and only a mark can be compared if the texts are encrypted. No account number beyond its last four
 * characters.
 */
import { PERSON_MARK } from "@durable-payments/client/values";
import { chunksOf } from "effect/Array";
import { hash } from "node:crypto";
import type { Payee, PlannedOfRun } from "./ledger.ts";
import { OF_CARDHOLDERS, PAYEES, REQUEST, ROW, SEEN } from "./schema.ts";
import { MOST_KEYS, type Store } from "./store.ts";
import type { RowOf } from "./table.ts";

const savePayee = PAYEES.saver({}, (name) =>
  name === "mark" ? "coalesce(excluded.mark, payees.mark)" : undefined,
);

/**
 * The key of a transaction that changes a payee. Rows of payees are shared between workflow ids, so each has a separate
 * key: otherwise there would be deadlocks.
 */
export const payeeKey = (account: string, payee: string): string => `payee ${account} ${payee}`;

/** Stores descriptions of payees. */
export const rememberPayees = async (
  store: Store,
  account: string,
  payees: ReadonlyArray<Omit<Payee, "account" | "seenAt">>,
): Promise<void> => {
  for (const part of chunksOf(payees, MOST_KEYS)) {
    const seenAt = Date.now();
    await store.save(
      [...new Set(part.map(({ payee }) => payeeKey(account, payee)))],
      part.map((payee) => savePayee({ ...payee, account, seenAt }, store.seal)),
    );
  }
};

/**
 * Returns the description of the payee that a planned payment names. Several payments may name one account with different
 * holders: each has its own. The mark of a person is that of the name.
 */
export const descriptionOf = ({
  payee,
  shown,
}: Pick<PlannedOfRun, "payee" | "shown">): Pick<Payee, "mark" | "payee" | "shown"> | undefined => {
  if (!payee || !shown) return undefined;
  const named = hash("sha256", JSON.stringify([payee, shown])).slice(0, 32);
  return { payee: payee.startsWith(PERSON_MARK) ? payee : named, mark: payee, shown };
};

const CARDHOLDER_WRITE = {
  account: ROW.account,
  workflowId: ROW.workflowId,
  ownerId: ROW.ownerId,
  rootId: ROW.rootId,
  operation: ROW.operation,
  state: ROW.state,
  madeId: ROW.madeId,
  changedAt: ROW.changedAt,
  hash: REQUEST.hash,
  payee: REQUEST.payee,
  standing: SEEN.standing,
};
/**
 * A write that creates or removes a cardholder or a card. `payee` is the mark of the person, or the cardholder of a card;
 * null once it is pruned.
 */
export type CardholderWrite = RowOf<typeof CARDHOLDER_WRITE>;

/** The directory of payees. */
export const payeeMethods = (store: Store) => ({
  /** Stores descriptions of payees: their account by no more than its last four characters. */
  rememberPayees: (account: string, payees: ReadonlyArray<Omit<Payee, "account" | "seenAt">>) =>
    rememberPayees(store, account, payees),
  /** Returns the payees of all accounts. `payees` are ids or marks. */
  payees: (filter: { readonly payees?: ReadonlyArray<string> } = {}) =>
    store.all(PAYEES, { payee: filter.payees }, "ORDER BY account, payee"),
  /**
   * Describes the person whom a cardholder is, for an approval: by the mark and the name with which a run has created it. The
   * service shows no day of birth, so a cardholder from elsewhere is marked by the id. The service never makes it another person.
   */
  person: async (
    account: string,
    cardholder: string,
  ): Promise<{ readonly mark: string; readonly shown: string }> => {
    const made = {
      "account = ?": account,
      "operation = 'createCardholder' AND payee IS NOT NULL": true,
      "made_id = ?": cardholder,
    };
    const [found] = await store.find(store.where("SELECT payee FROM writes", made));
    const mark = String(found?.["payee"] ?? cardholder);
    const [known] = await store.all(PAYEES, { "account = ?": account, payee: [mark] });
    return { mark, shown: known?.shown ?? `the cardholder ${cardholder}` };
  },
  /** Returns all writes that create or remove cardholders and cards, of an account or of all: see `OF_CARDHOLDERS`. */
  cardholderWrites: (account?: string): Promise<ReadonlyArray<CardholderWrite>> => {
    const which = { "account = ?": account, [OF_CARDHOLDERS]: true };
    const select =
      "SELECT account, workflow_id, owner_id, root_id, operation, state, made_id, changed_at, hash, payee, standing FROM writes";
    return store.read(CARDHOLDER_WRITE, store.where(select, which));
  },
  /** Returns payees of an account that payouts since a time of the ledger's clock pay, and that nothing describes. */
  undescribedPayees: (account: string, since: number, limit: number) => {
    const which = {
      "account = ?": account,
      "created_at >= ?": since,
      "operation = 'createPayout' AND amount IS NOT NULL AND payee IS NOT NULL": true,
      "NOT EXISTS (SELECT 1 FROM payees WHERE payees.account = writes.account AND payees.payee = writes.payee)": true,
    };
    const select = "SELECT DISTINCT payee FROM writes";
    return store.texts("payee", store.where(select, which, "ORDER BY payee", limit));
  },
});
