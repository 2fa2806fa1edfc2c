/**
 * The outcome of the rows of a file.
 *
 * A row may be paid although its run was cancelled, and by an earlier file: somebody who reads that it was not pays it
 * again. So the money of a row is that of its payout in the ledger, also if another file or a single start has made it;
 * before there is one, that of the payment which its run plans.
 */
import {
  type ListedRow,
  type MoneyState,
  moneyStateOf,
  type Standing,
} from "@durable-payments/ledger";
import { PERSON_MARK } from "@durable-payments/client/values";
import * as Struct from "effect/Struct";
import { type NameOf, namesOf } from "../facts/payees.ts";
import { paymentFields } from "./run-view.ts";

/** States of money that nothing changes any more, except a return. */
const FINAL: ReadonlySet<MoneyState> = new Set(["paid", "failed", "cameBack", "notPaid"]);

/** Returns whether a row, or all rows of a count, have their outcome. */
export const isFinalRow = ({ standing }: { readonly standing: Standing }): boolean =>
  FINAL.has(moneyStateOf(standing));

/** A row of a file, with its payment; of a row that another file has, with what that file did. */
export type BatchRowView = ReturnType<typeof rowView>;

/** Makes the view of a row. */
export const rowView = (row: ListedRow, group: "cards" | "payouts", nameOf: NameOf) => {
  const {
    account,
    holderId,
    namedAs,
    outcomeAt,
    payee,
    repair,
    retriedBy,
    run,
    shown,
    standing,
    status,
  } = row;
  const amended = repair?.planned?.payee === payee ? repair.planned.shown : null;
  // The end of a run tells an earlier outcome of its payout, and does not explain the present one.
  const isOld = status !== "covered" && (standing === "made" || standing === "completed");
  return {
    ...paymentFields(row),
    // The text of a repair is what it changes.
    ...namesOf(
      amended ??
        nameOf(payee, account) ??
        nameOf(namedAs, account) ??
        (run === null ? shown : null),
    ),
    ...Struct.pick(row, ["number", "workflowId", "status", "operation", "madeId", "word"]),
    ...Struct.pick(row, ["startedAt", "endedAt", "paymentDate"]),
    state: moneyStateOf(standing),
    /** The service's id of the cardholder, also if the card was not issued; null in a file of payouts. */
    holderId: holderId ?? (group === "cards" && !payee?.startsWith(PERSON_MARK) ? payee : null),
    completedAt: standing === "completed" ? outcomeAt : null,
    reason: retriedBy !== null ? `Retried again later by ${retriedBy}.` : isOld ? null : row.reason,
  };
};
