import { comparableText, PERSON_MARK } from "@durable-payments/client/values";
import { moneyOf } from "../model/limits.ts";
import type { Standing } from "../model/standing.ts";
import type { PlannedPayment, SimilarPayment } from "./ledger.ts";
import { DAY_MS } from "./run-filter.ts";
import type { Store, Where } from "./store.ts";
import * as column from "./column.ts";
import type { RowOf } from "./table.ts";

/*
 * Likely duplicates: the same business fact under another workflow id. An id is paid once. But a person may pay
 * an invoice from a file in the morning, and by hand in the afternoon. So there is one rule for every way to start:
 *
 * - A payment is likely a duplicate of one with the same payee, amount and currency, and the same reference; or, if one of
 *   them has no reference, that is less than a day old. The payee is the account, by whichever mark both have; references
 *   are compared as a person reads them.
 * - A person is one with the same name and day of birth, or the same email, at any time and for any card.
 */

/**
 * Most similar payments that are found for one, and most planned ones of a payee, amount and reference that others are compared
 * with: a file may have thousands of equal ones.
 */
const MOST_SIMILAR = 100;

/** The payment of a run or a write. */
const PAYMENT = {
  workflowId: column.text,
  ownerId: column.text,
  reference: column.textOrNull,
  payee: column.text,
  amount: column.text,
  currency: column.text,
  standing: column.orNull(column.oneOf<Standing>()),
  at: column.number,
  now: column.number,
};
type Payment = RowOf<typeof PAYMENT>;

const OF_PERSON_OR_PAYMENT = "operation IN ('createPayout', 'createCardholder')";

const OF_RUN = `workflow_id AS owner_id, started_at AS at, (SELECT max(standing) FROM writes WHERE writes.workflow_id = runs.workflow_id AND ${OF_PERSON_OR_PAYMENT}) AS standing FROM runs`;

/**
 * Payments of runs, by both marks, and of writes: a run records its payment before its first write, and may have many
 * writes, also under keys.
 */
const PAYMENTS: ReadonlyArray<readonly [mark: string, some: string, where: Where]> = [
  ["payee", OF_RUN, {}],
  ["alias", OF_RUN, {}],
  ["payee", "owner_id, created_at AS at, standing FROM writes", { [OF_PERSON_OR_PAYMENT]: true }],
];

/** Returns the form in which references are compared; null without one, and for a person. */
const comparedOf = (payee: string, reference: string | null): string | null =>
  reference === null || payee.startsWith(PERSON_MARK) ? null : comparableText(reference);

/** Whether it was certainly not paid. */
const isUnpaid = ({ standing }: Payment): boolean =>
  standing === "refused" || standing === "undone";

const isSimilar = (planned: PlannedPayment, other: Payment, isSameReference: boolean): boolean =>
  other.workflowId !== planned.workflowId &&
  other.ownerId !== planned.workflowId &&
  (isSameReference ||
    other.payee.startsWith(PERSON_MARK) ||
    // Time in which an equal payment without a reference is likely a duplicate.
    other.now - other.at < DAY_MS);

/** Returns the mark of the account of each beneficiary that is, or has the account of, one of these payees. */
const readMarks = async (
  store: Store,
  account: string | undefined,
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

const marksOf = ({ alias, payee }: PlannedPayment): ReadonlyArray<string> =>
  alias ? [payee, alias] : [payee];

/**
 * Finds the likely duplicates of each planned payment, including earlier planned ones.
 *
 * @param account that pays; undefined compares with payments of all accounts.
 */
export const findSimilar = async (
  store: Store,
  account: string | undefined,
  payments: ReadonlyArray<PlannedPayment>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const payees = payments.flatMap(marksOf);
  const marks = await readMarks(store, account, payees);
  const named = [...new Set([...payees, ...marks.keys(), ...marks.values()])];
  const { now } = store.database.dialect;
  const found = await store.read(
    PAYMENT,
    ...PAYMENTS.map(([mark, some, where]) =>
      store.where(
        `SELECT workflow_id, reference, ${mark} AS payee, coalesce(amount, '') AS amount,
         coalesce(currency, '') AS currency, ${now} AS now, ${some}`,
        // A run that was started without its account may be one of any.
        { ...where, "(account = ? OR account IS NULL)": account, [mark]: named },
      ),
    ),
  );
  // The payee and the amount; for a person, the amount does not count.
  const keyOf = (payee: string, one: Pick<PlannedPayment, "amount" | "currency">): string =>
    JSON.stringify([marks.get(payee) ?? payee, payee.startsWith(PERSON_MARK) ? "" : moneyOf(one)]);
  // By payee and amount, and then by reference: thousands may be compared with thousands.
  const known = new Map<string, Map<string | null, Array<Payment>>>();
  const add = (key: string, one: Payment, most: number): void => {
    const group = known.get(key) ?? new Map<string | null, Array<Payment>>();
    const reference = comparedOf(one.payee, one.reference);
    const equal = group.get(reference) ?? [];
    if (equal.length < most) equal.push(one);
    known.set(key, group.set(reference, equal));
  };
  // Plans come last: they must not hide a payment.
  const isPlan = ({ standing }: Payment) => Number(standing === null);
  for (const one of found.toSorted((a, b) => isPlan(a) - isPlan(b)))
    if (!isUnpaid(one)) add(keyOf(one.payee, one), one, Number.POSITIVE_INFINITY);
  const at = Date.now();
  return payments.map((planned) => {
    const similar = new Map<string, SimilarPayment>();
    for (const payee of marksOf(planned)) {
      const key = keyOf(payee, planned);
      const group = known.get(key) ?? new Map<string | null, ReadonlyArray<Payment>>();
      const wanted = comparedOf(payee, planned.reference);
      for (const reference of wanted === null ? group.keys() : [wanted, null]) {
        if (similar.size >= MOST_SIMILAR) break;
        for (const other of group.get(reference) ?? []) {
          if (similar.size >= MOST_SIMILAR) break;
          const { standing, workflowId } = other;
          const isSame = reference !== null && reference === wanted;
          // A run's recorded payment counts for more than its plan here.
          if (isSimilar(planned, other, isSame) && (standing !== null || !similar.has(workflowId)))
            similar.set(workflowId, {
              workflowId,
              reference: other.reference,
              payee,
              standing,
              at: other.at,
            });
        }
      }
      const ownerId = planned.workflowId;
      add(key, { ...planned, ownerId, payee, standing: null, at, now: at }, MOST_SIMILAR);
    }
    return [...similar.values()];
  });
};
