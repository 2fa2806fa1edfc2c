/*
 * The view of a run: the same in every list, screen and sum.
 *
 * The status of a run and the standing of its money are two things: a run may have failed after its payout was made. So
 * both are shown, and every sum counts money by its standing.
 */
import { formatAmount } from "@durable-payments/client/decimal";
import {
  type FoundRun,
  type KnownBy,
  type MoneyGroup,
  moneyGroupOf,
  type MoneyState,
  moneyStateOf,
  OPEN_STATUSES,
  type Pause,
  type RunStatus,
  type WriteState,
} from "@durable-payments/ledger";
import { PERSON_MARK } from "@durable-payments/client/values";
import { WORKFLOW } from "@durable-payments/protocol";
import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";
import * as Struct from "effect/Struct";
import { type NameOf, namesOf } from "../facts/payees.ts";

/** Status of a run: as the ledger keeps it, or paused. */
export type Status = RunStatus | "paused";

/** Statuses of a run, the most important first. `failed`, `timedOut` and `terminated` are unsuccessful ends. */
export const STATUSES: ReadonlyArray<Status> = [
  "asking",
  "approval",
  "unknown",
  "returned",
  "paused",
  "waiting",
  "running",
  "missing",
  "ended",
  "failed",
  "timedOut",
  "terminated",
  "cancelled",
  "succeeded",
];

/** Returns whether a run, or its money, has no outcome yet. */
export const isOpenStatus = (status: Status): boolean =>
  status === "paused" || OPEN_STATUSES.has(status);

/** The payment of a run or a write. Amounts are decimal strings in units of `currency`. */
export interface PaymentView {
  readonly amount: string | null;
  readonly currency: string | null;
  /** A `beneficiary_id`, or a mark of the payee's account. */
  readonly payee: string | null;
  readonly reference: string | null;
}

/** Returns the payment of a run, a write or a row of a batch. */
export const paymentFields = (of: PaymentView | undefined): PaymentView => ({
  amount: of?.amount ?? null,
  currency: of?.currency ?? null,
  payee: of?.payee ?? null,
  reference: of?.reference ?? null,
});

/** Amounts by currency: decimal strings in units of the currency. */
export type Money = ReadonlyArray<{ readonly currency: string; readonly amount: string }>;

/**
 * Adds up amounts by currency, exactly. Missing and invalid amounts are ignored.
 *
 * @returns the sums above zero, in the order of their currencies' first appearance.
 */
export const sumMoney = (
  amounts: ReadonlyArray<{ readonly amount: string | null; readonly currency: string | null }>,
): Money => {
  const sums = new Map<string, BigDecimal.BigDecimal>();
  for (const { amount, currency } of amounts) {
    const read = BigDecimal.fromString(amount ?? "");
    if (currency === null || amount === null || Option.isNone(read)) continue;
    const before = sums.get(currency);
    sums.set(currency, before === undefined ? read.value : BigDecimal.sum(before, read.value));
  }
  return [...sums]
    .filter(([, sum]) => !BigDecimal.isZero(sum))
    .map(([currency, sum]) => ({ currency, amount: formatAmount(sum, currency) }));
};

/** Amounts by kind and currency. */
export type MoneyByKind = ReadonlyArray<Money[number] & { readonly group: MoneyGroup }>;

/** Adds up amounts as {@link sumMoney}, but never payouts and card limits together. */
export const sumByKind = (
  amounts: ReadonlyArray<Pick<PaymentView, "amount" | "currency"> & { readonly group: MoneyGroup }>,
): MoneyByKind =>
  [...Map.groupBy(amounts, ({ group }) => group)].flatMap(([group, of]) =>
    sumMoney(of).map((sum) => ({ group, ...sum })),
  );

/** States of money in words: the same in each list, sum and message, in the order of a report. */
export const MONEY_WORDS: Readonly<Record<MoneyState, string>> = {
  paid: "paid",
  underWay: "under way",
  unknown: "outcome unknown",
  failed: "failed",
  cameBack: "came back",
  notPaid: "not paid",
  planned: "not sent yet",
};

/** States of money, as a report has them. */
export const MONEY_STATES: ReadonlyArray<MoneyState> = Struct.keys(MONEY_WORDS);

/** A payment of a run: of a write that moves money, or planned. Times: milliseconds since 1970. */
export interface ListedPayment extends PaymentView {
  readonly state: MoneyState;
  /** Its kind: payouts, cards, or writes of your own. */
  readonly group: MoneyGroup;
  /** Null if it is only planned. */
  readonly operation: string | null;
  /** The service's id of the payout, card or cardholder. */
  readonly madeId: string | null;
  readonly payeeName: string | null;
  /** The last four characters of its account. */
  readonly payeeAccount: string | null;
  /** YYYY-MM-DD. */
  readonly paymentDate: string | null;
  readonly completedAt: number | null;
  /** The service's last word for its status. */
  readonly word: string | null;
}

/** One run, as all lists and screens show it. Times: milliseconds since 1970. */
export type RunView = ReturnType<typeof viewOf>;

/** Returns the pause that holds for a run, or for all runs of a batch. */
export const pauseOf = (
  pauses: ReadonlyArray<Pause>,
  batch: string | null | undefined,
  workflowId?: string,
): Pause | undefined =>
  pauses.find(({ of, scope }) => scope === "all" || of === (scope === "run" ? workflowId : batch));

/**
 * Returns whether a run is a row that waits for the approval of its file.
 *
 * @param asking the files that wait for it.
 */
export const awaitsFile = (
  { batch, runId, status }: FoundRun["run"],
  asking: ReadonlySet<string> = new Set(),
): boolean => status === "running" && runId === null && batch !== null && asking.has(batch);

/** Returns the payments of a run: those of its writes, else the planned one. */
const paymentsOf = (
  { rows, run }: Pick<FoundRun, "rows" | "run">,
  nameOf: NameOf,
): ReadonlyArray<ListedPayment> => {
  const moving = rows.filter(
    ({ ownerId, request }) => ownerId === run.workflowId && request.amount !== null,
  );
  if (moving.length > 0) {
    return moving.map(({ account, madeId, operation, outcomeAt, request, standing, word }) => ({
      ...paymentFields(request),
      ...namesOf(nameOf(request.payee, account, run)),
      state: moneyStateOf(standing),
      group: moneyGroupOf(operation),
      operation,
      madeId,
      paymentDate: request.paymentDate,
      completedAt: standing === "completed" ? outcomeAt : null,
      word,
    }));
  }
  // The payment of a key is made by one run, and listed as that one's.
  if (run.amount === null || run.planned === null) return [];
  return [
    {
      ...paymentFields(run),
      ...namesOf(nameOf(run.payee, run.account, run)),
      state: moneyStateOf(run.planned),
      group:
        run.type === WORKFLOW.onboardCardholder || run.payee?.startsWith(PERSON_MARK)
          ? "cards"
          : "payouts",
      operation: null,
      madeId: null,
      paymentDate: null,
      completedAt: null,
      word: null,
    },
  ];
};

const one = <A>(values: ReadonlyArray<A>): A | null =>
  new Set(values).size === 1 ? (values[0] ?? null) : null;

/**
 * Makes the view of a run. Its status is that of the ledger, and its amounts and payees are those of its writes.
 *
 * @param isAsked chooses among its payments.
 */
export const viewOf = (
  {
    asking,
    pauses,
    rows,
    run,
  }: Pick<FoundRun, "rows" | "run"> & {
    readonly pauses: ReadonlyArray<Pause>;
    readonly asking?: ReadonlySet<string> | undefined;
  },
  reason: string | null,
  nameOf: NameOf,
  isAsked: (payment: ListedPayment) => boolean = () => true,
) => {
  const { batch, status, workflowId } = run;
  const payments = paymentsOf({ rows, run }, nameOf).filter(isAsked);
  const money = sumByKind(payments);
  const sum = one(money);
  const isPaused = status === "running" && pauseOf(pauses, batch, workflowId) !== undefined;
  const held: Status | undefined = awaitsFile(run, asking)
    ? "approval"
    : isPaused
      ? "paused"
      : undefined;
  return {
    ...Struct.pick(run, ["workflowId", "runId", "type", "startedAt", "endedAt", "startedBy"]),
    ...Struct.pick(run, ["batch", "batchRow"]),
    status: held ?? status,
    /** The reason of its status, for a person. */
    reason,
    amount: sum?.amount ?? null,
    currency: sum?.currency ?? null,
    payee: one(payments.map(({ payee }) => payee)),
    reference: one(payments.map(({ reference }) => reference)),
    /** The payee in words; null if nobody has described it. */
    payeeName: one(payments.map(({ payeeName }) => payeeName)),
    /** The last four characters of its account. */
    payeeAccount: one(payments.map(({ payeeAccount }) => payeeAccount)),
    /** Sums of its payments by kind and currency; `amount` is null if there are several. */
    money,
    /** Its payments: as they were sent; the planned one until there is one. */
    payments,
  };
};

/** A step of a run: a write, a wait, or another action of its history. */
export interface StepView extends PaymentView {
  readonly kind: "write" | "wait" | "activity" | "timer" | "child" | "signal" | "update" | "task";
  readonly name: string;
  /** `open`: it is under way, or waits. */
  readonly state: WriteState | "open" | "failed" | "timedOut" | "cancelled";
  /** Its outcome, or the reason of its wait. */
  readonly text: string;
  readonly at: number;
  readonly endedAt: number | null;
  /** Id of the result, and its source. */
  readonly madeId: string | null;
  readonly knownBy: KnownBy | null;
  /** Dispatches, of a write. */
  readonly sends: number | null;
  /** The workflow id of a write whose key is not this run's; null otherwise. */
  readonly key: string | null;
  /** When its object is read at the service next; null if nothing remains to be seen, or the step of its payout says it. */
  readonly readAfter: number | null;
}
