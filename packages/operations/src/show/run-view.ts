import { formatAmount } from "@durable-payments/api-core/decimal";
import type { KnownBy, WriteState } from "@durable-payments/ledger";
import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";
import type { RunState } from "../connection/temporal.ts";
import type { Choice } from "../decide/consequences.ts";

/** How a run can be found; the earlier ones matter more. */
export const STATUSES = [
  /** A person is asked what became of a write. */
  "asking",
  /** A second person has to approve a write. */
  "approval",
  /** A write may have been carried out; time may tell. */
  "unknown",
  /** Sends are paused. */
  "paused",
  /** Waits for the service, for money, or for time. */
  "waiting",
  "running",
  /** Ended by a person: nothing more is sent, not by a retry either. */
  "ended",
  /** Any unhappy end but a cancellation: failed, timed out or terminated. */
  "failed",
  "timedOut",
  "terminated",
  "cancelled",
  "succeeded",
] as const;
export type Status = (typeof STATUSES)[number];

/** What a run or a write is to pay. Amounts are decimal strings in units of `currency`. */
export interface PaymentView {
  readonly amount: string | null;
  readonly currency: string | null;
  /** A `beneficiary_id`, or a mark of the payee's account. */
  readonly payee: string | null;
  readonly reference: string | null;
}

/** Returns what a run, a write or a row of a batch is to pay, without all else. */
export const paymentFields = (of: PaymentView | undefined): PaymentView => ({
  amount: of?.amount ?? null,
  currency: of?.currency ?? null,
  payee: of?.payee ?? null,
  reference: of?.reference ?? null,
});

/** Amounts by currency: decimal strings in units of the currency. */
export type Money = ReadonlyArray<{ readonly currency: string; readonly amount: string }>;

/**
 * Adds up amounts by currency, exactly. What moves no money, or is no decimal, is left out.
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

/** One run, as all lists and screens show it. Times: milliseconds since 1970. */
export interface RunView extends PaymentView {
  readonly workflowId: string;
  /** Null where Temporal has none, or cannot be asked. */
  readonly runId: string | null;
  readonly type: string | null;
  /** Null where Temporal has none, or cannot be asked. */
  readonly state: RunState | null;
  /** Every status that it has, the one that matters most first. */
  readonly statuses: ReadonlyArray<Status>;
  /** Why it is in this state, for a person. */
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly startedBy: string | null;
  readonly batch: string | null;
  readonly batchRow: number | null;
}

/** A step of a run: a write, a wait, or what its history shows beside them. */
export interface StepView extends PaymentView {
  readonly kind: "write" | "wait" | "activity" | "timer" | "child" | "signal" | "update" | "task";
  readonly name: string;
  /** `open`: it is under way, or waits. */
  readonly state: WriteState | "open" | "failed" | "timedOut" | "cancelled";
  /** What became of it, or what it waits for. */
  readonly text: string;
  readonly at: number;
  readonly endedAt: number | null;
  /** Id of what was made, and how it is known. */
  readonly madeId: string | null;
  readonly knownBy: KnownBy | null;
  /** Dispatches, of a write. */
  readonly sends: number | null;
}

/** How a question or an approval can be decided, and what that does to the money. */
export interface ChoiceView {
  readonly choice: Choice | "approve" | "reject";
  readonly consequence: string;
}

/** What waits for a person. */
export interface InboxItem extends PaymentView {
  readonly kind: "question" | "approval" | "batch" | "unknown";
  readonly workflowId: string;
  readonly step: string | null;
  readonly operation: string | null;
  /** Id of the question; null where there is nothing to be answered yet. */
  readonly question: string | null;
  readonly reason: string;
  readonly since: number;
  /** What the service lists that may be it. */
  readonly candidates: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly choices: ReadonlyArray<ChoiceView>;
  readonly startedBy: string | null;
}
