/**
 * The outcome of the rows of a file.
 *
 * A row may be paid although its run was cancelled, and by an earlier file: somebody who reads that it was not pays it
 * again. So the money of a row is that of its payout in the ledger, also if another file or a single start has made it.
 */
import {
  type BatchCount,
  type BatchRowStatus,
  type ListedRow,
  type MoneyState,
  moneyStateOf,
} from "@durable-payments/ledger";
import type { NameOf } from "../facts/payees.ts";
import { namesOf, paymentFields } from "./run-view.ts";

/** Statuses of rows without a payout that will have none. */
const WITHOUT: ReadonlySet<BatchRowStatus> = new Set([
  "rejected",
  "ended",
  "failed",
  "timedOut",
  "terminated",
  "cancelled",
  "succeeded",
]);

type Outcome = Pick<BatchCount, "earlier" | "standing" | "status">;

/** Returns the outcome of the money of rows; of covered ones, what the earlier file did with it. */
export const moneyOfRow = ({ earlier, standing, status }: Outcome): MoneyState => {
  const isWithout = WITHOUT.has(earlier ?? status);
  if (standing !== null && !(standing === "open" && isWithout)) return moneyStateOf(standing);
  // A restored ledger may have forgotten its payout.
  if (status === "unknown") return "unknown";
  return isWithout ? "notPaid" : "planned";
};

/** States of money that nothing changes any more, except a return. */
const FINAL: ReadonlySet<MoneyState> = new Set(["paid", "failed", "cameBack", "notPaid"]);

/** Returns whether a row, or all rows of a count, have their outcome. */
export const isFinalRow = (of: Outcome): boolean => FINAL.has(moneyOfRow(of));

/** A row of a file, with its payment; of a row that an earlier file has, with what that file did. */
export type BatchRowView = ReturnType<typeof rowView>;

/** Makes the view of a row. */
export const rowView = (row: ListedRow, nameOf: NameOf) => {
  const { number, outcomeAt, payoutId, shown, standing, status, word, workflowId } = row;
  // The end of a run tells an earlier outcome of its payout, and does not explain the present one.
  const isOld = status !== "covered" && (standing === "made" || standing === "completed");
  return {
    ...paymentFields(row),
    ...namesOf(nameOf(row.payee) ?? shown),
    number,
    workflowId,
    status,
    state: moneyOfRow(row),
    operation: standing === null ? null : "createPayout",
    madeId: payoutId,
    paymentDate: null,
    completedAt: standing === "completed" ? outcomeAt : null,
    word,
    reason: isOld ? null : row.reason,
  };
};
