import { formatAmount } from "@durable-payments/api-core/decimal";
import type {
  AttentionKind,
  BatchRow,
  BatchRowStatus,
  KnownBy,
  MoneyState,
  WriteState,
} from "@durable-payments/ledger";
import * as BigDecimal from "effect/BigDecimal";
import * as Option from "effect/Option";
import type { RunState } from "../facts/connection/temporal.ts";
import type { NextOperation } from "../errors.ts";
import type { Choice } from "./consequences.ts";

/** Statuses of a run, the most important first. */
export const STATUSES = [
  /** A person is asked for the outcome of a write. */
  "asking",
  /** A second person has to approve a write. */
  "approval",
  /** A write with an unknown outcome, which may become known in time. */
  "unknown",
  /** Money of it came back. */
  "returned",
  /** Sends are paused. */
  "paused",
  /** Waits for the service, for money, or for time. */
  "waiting",
  "running",
  /** Temporal has lost it, and it is not finished. */
  "missing",
  /** Ended by a person: nothing more is sent, not by a retry either. */
  "ended",
  /** Any unsuccessful end except a cancellation: failed, timed out or terminated. */
  "failed",
  "timedOut",
  "terminated",
  "cancelled",
  "succeeded",
] as const;
export type Status = (typeof STATUSES)[number];

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

/** One run, as all lists and screens show it. Times: milliseconds since 1970. */
export interface RunView extends PaymentView {
  readonly workflowId: string;
  /** Null if Temporal has none, or cannot be reached. */
  readonly runId: string | null;
  readonly type: string | null;
  /** Null if Temporal has none, or cannot be reached. */
  readonly state: RunState | null;
  /** Sums of what it pays; `amount` is null if they are in several currencies. */
  readonly money: Money;
  /** Sums of its payments that are paid, and of other writes that are done. */
  readonly succeeded: Money;
  /** All its statuses, the most important first. */
  readonly statuses: ReadonlyArray<Status>;
  /** The reason of its state, for a person. */
  readonly reason: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly startedBy: string | null;
  /** The payee in words; absent or null if nobody has described it. */
  readonly payeeName?: string | null;
  readonly batch: string | null;
  readonly batchRow: number | null;
}

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
}

/** The rows that a file pays. */
export interface FileListing {
  /** Names exactly these rows and payees: an approval in a script gives it. */
  readonly hash: string;
  /** Sums by currency. */
  readonly sums: Money;
  readonly payees: number;
  /** Payees that were never paid before. */
  readonly newPayees: number;
  /** Rows whose payee the service does not know: they will fail. */
  readonly notFound: number;
  /** Why a payee could not be read so far: until then nobody can approve the file. */
  readonly problem: string | null;
  /** The largest rows, or all; `isNew`: its payee was never paid before. */
  readonly rows: ReadonlyArray<BatchRow & { readonly isNew: boolean }>;
  readonly notListed: number;
}

/** A row of a file, with the outcome of it. */
export interface BatchRowView extends PaymentView {
  readonly number: number;
  readonly workflowId: string;
  readonly status: BatchRowStatus;
  /** The outcome of its money; of a row that an earlier file has, what that file did with it. */
  readonly money: MoneyState;
  /** The payee in words; null if nobody has described it. */
  readonly payeeName: string | null;
  readonly payoutId: string | null;
  /** The service's word for its status. */
  readonly word: string | null;
  /** When its outcome was seen: milliseconds since 1970. */
  readonly outcomeAt: number | null;
  readonly reason: string | null;
}

/** An item that waits for a person. */
export interface InboxItem extends PaymentView {
  readonly kind: "question" | "approval" | "batch" | "limits" | AttentionKind;
  readonly workflowId: string;
  readonly step: string | null;
  readonly operation: string | null;
  /** Id of the question; null if it cannot be answered yet. */
  readonly question: string | null;
  readonly reason: string;
  readonly since: number;
  /** Possible matches in the service's list. */
  readonly candidates: ReadonlyArray<Readonly<Record<string, unknown>>>;
  /** The effect of each answer on the money. */
  /** The payee in words; absent or null if nobody has described it. */
  readonly payeeName?: string | null;
  readonly choices: Readonly<Partial<Record<Choice | "approve" | "reject", string>>>;
  readonly startedBy: string | null;
  /** Names exactly what an approver reads here: an approval in a script gives it. Null if nothing is to be approved. */
  readonly hash: string | null;
  /** Further facts for an approver: who started it and how, and what has changed since an earlier approval. */
  readonly details: ReadonlyArray<string>;
  /** Things of one kind that stand still: their number, and their sums. */
  readonly things?: { readonly count: number; readonly money: Money };
  /** The command that helps, if no decision of this item does. */
  readonly next?: NextOperation;
  /** The rows of a file that waits for its approval, and its likely duplicates. */
  readonly file?: FileListing & {
    readonly warnings: ReadonlyArray<string>;
    readonly notDuplicate: string | null;
  };
}
