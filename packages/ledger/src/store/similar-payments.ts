import { compareDecimals } from "../model/gate.ts";
import type { WriteState } from "../model/row.ts";
import type { PlannedPayment, SimilarPayment } from "./ledger.ts";
import type { Store, Where } from "./store.ts";
import { number, oneOf, orNull, readFields, type RowOf, text, textOrNull } from "./table.ts";

/** How long after a payment without a reference the same one is likely a duplicate. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** What a run, or a write, pays. */
const PAYMENT = {
  workflowId: text,
  reference: textOrNull,
  payee: text,
  amount: text,
  currency: text,
  state: orNull(oneOf<WriteState>()),
  at: number,
  now: number,
};
type Payment = RowOf<typeof PAYMENT>;

/** A run has noted its payment before there is a write; a run of many payments has a write for each. */
const PAYMENTS: ReadonlyArray<readonly [string, Where]> = [
  [
    "started_at AS at, (SELECT max(state) FROM writes WHERE writes.workflow_id = runs.workflow_id AND operation = 'createPayout') AS state FROM runs",
    {},
  ],
  ["created_at AS at, state FROM writes", { "operation = 'createPayout'": true }],
];

const isSimilar = (planned: PlannedPayment, other: Payment): boolean =>
  // Certainly not paid.
  other.state !== "refused" &&
  other.state !== "undone" &&
  other.workflowId !== planned.workflowId &&
  other.currency === planned.currency &&
  compareDecimals(other.amount, planned.amount) === 0 &&
  (planned.reference !== null && other.reference !== null
    ? planned.reference === other.reference
    : other.now - other.at < DAY_MS);

/** Returns the mark of the account of each beneficiary that is, or has the account of, one of these payees. */
const readMarks = async (
  store: Store,
  account: string,
  payees: ReadonlyArray<string>,
): Promise<ReadonlyMap<string, string>> => {
  const created = async (where: Where) => {
    const found = await store.find(
      store.where("SELECT made_id, payee FROM writes", {
        "account = ?": account,
        "operation = 'createBeneficiary' AND made_id IS NOT NULL AND payee IS NOT NULL": true,
        ...where,
      }),
    );
    return found.map((row) => [String(row["made_id"]), String(row["payee"])] as const);
  };
  const named = await created({ made_id: payees });
  return new Map(await created({ payee: [...payees, ...named.map(([, mark]) => mark)] }));
};

/** Finds what is likely the same as planned payments, for each of them. */
export const findSimilar = async (
  store: Store,
  account: string,
  payments: ReadonlyArray<PlannedPayment>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const payees = payments.map(({ payee }) => payee);
  const marks = await readMarks(store, account, payees);
  const accountOf = (payee: string): string => marks.get(payee) ?? payee;
  const named = { payee: [...new Set([...payees, ...marks.keys(), ...marks.values()])] };
  const { now } = store.database.dialect;
  const found = await store.find(
    ...PAYMENTS.map(([some, where]) =>
      store.where(
        `SELECT workflow_id, reference, payee, amount, currency, ${now} AS now, ${some}`,
        {
          ...where,
          "account = ?": account,
          "amount IS NOT NULL AND currency IS NOT NULL": true,
          ...named,
        },
      ),
    ),
  );
  const byAccount = Map.groupBy(
    found.map((one) => readFields(PAYMENT, one, store.seal)),
    ({ payee }) => accountOf(payee),
  );
  return payments.map((planned) => {
    const similar = new Map<string, SimilarPayment>();
    for (const other of byAccount.get(accountOf(planned.payee)) ?? []) {
      const { at, reference, state, workflowId } = other;
      if (isSimilar(planned, other)) similar.set(workflowId, { workflowId, reference, state, at });
    }
    return [...similar.values()];
  });
};
