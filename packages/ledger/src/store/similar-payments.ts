import { moneyOf } from "../model/limits.ts";
import type { WriteState } from "../model/row.ts";
import type { PlannedPayment, SimilarPayment } from "./ledger.ts";
import type { Store, Where } from "./store.ts";
import { number, oneOf, orNull, readFields, type RowOf, text, textOrNull } from "./table.ts";

/** Time in which an equal payment without a reference is likely a duplicate. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** Most planned payments of one payee and amount that each further one is compared with. */
const MOST_COMPARED = 100;

/** The payment of a run or a write. */
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

/** Payments of runs and of writes: a run records its payment before its first write, and may have many writes. */
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

/** Finds the likely duplicates of each planned payment, including earlier planned ones. */
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
  // The amount, and the payee.
  const keyOf = (one: Pick<PlannedPayment, "amount" | "currency" | "payee">): string =>
    JSON.stringify([accountOf(one.payee), moneyOf(one)]);
  const paid = Map.groupBy(
    found.map((one) => readFields(PAYMENT, one, store.seal)),
    keyOf,
  );
  const earlier = new Map<string, Array<Payment>>();
  const at = Date.now();
  return payments.map((planned) => {
    const key = keyOf(planned);
    const before = earlier.get(key) ?? [];
    const similar = new Map<string, SimilarPayment>();
    for (const other of [...(paid.get(key) ?? []), ...before]) {
      const { reference, state, workflowId } = other;
      if (isSimilar(planned, other))
        similar.set(workflowId, { workflowId, reference, state, at: other.at });
    }
    if (before.length < MOST_COMPARED)
      earlier.set(key, [...before, { ...planned, state: null, at, now: at }]);
    return [...similar.values()];
  });
};
