import { isRunOfRow } from "@durable-payments/activities/row-run";
import type { Journal } from "@durable-payments/journal";
import {
  type BatchRow,
  PAYMENT_AWAITS,
  PAYMENT_STAGE,
  type PayoutResult,
  accountNumbersOf,
  paymentMemoOf,
  withoutAccounts,
  textAt,
  WORKFLOW,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import type { NextOperation } from "../errors.ts";
import { explainFailure } from "../runs/explain-failure.ts";
import { orNull } from "../runs/or-null.ts";
import { readPayment } from "../runs/payment.ts";
import { awaitEnding } from "../runs/state.ts";
import { isOpenState, type StateName, stateNameOf } from "../runs/state-name.ts";
import { sendsOfRow } from "./row-sends.ts";

/** What became of a row: one line of a result file. */
export interface RowOutcome {
  readonly row: number;
  readonly key: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly payout_id: string;
  readonly state:
    | StateName
    /** Not complete in the time that was allowed for it; neither is it known to have failed. */
    | "unfinished"
    | "notStarted"
    /** Temporal has forgotten its run, and the journal has a send of it. */
    | "forgotten"
    /** The key has paid something else; this row was not paid. */
    | "otherPayment";
  readonly reason: string;
  /** As it is sent now: amended, where it was. */
  readonly amount: string;
  readonly currency: string;
  /** Reference of the payout, as the file has it. */
  readonly reference: string;
  /** Nickname of the beneficiary, or its id where the row gives that. */
  readonly beneficiary: string;
  /** When the payout was complete, as the service says it; empty where it is not. */
  readonly completed_at: string;
  /** Type of the failure; empty where nothing failed. */
  readonly failure: string;
  /** Which operation shows more. */
  readonly next?: NextOperation;
}

type What = Pick<RowOutcome, "next" | "payout_id" | "reason" | "state"> &
  Partial<Pick<RowOutcome, "completed_at" | "failure">>;

const openRun = (run: WorkflowExecutionInfo): What => {
  const { typedSearchAttributes, workflowId } = run;
  const [awaited = ""] = typedSearchAttributes.get(PAYMENT_AWAITS) ?? [];
  const payout_id = /^payout:(.*)$/.exec(awaited)?.[1] ?? "";
  const state = stateNameOf(run);
  return state === "attention"
    ? { payout_id, state, reason: "", next: { operation: "describe", workflowId } }
    : { payout_id, state, reason: typedSearchAttributes.get(PAYMENT_STAGE) ?? "" };
};

/**
 * What a row is to pay: as its run was amended, or as the file has it.
 *
 * @param run that pays it; undefined where none does.
 */
const paymentOf = async (
  temporal: Temporal,
  { input }: BatchRow,
  run: WorkflowExecutionInfo | undefined,
): Promise<Pick<RowOutcome, "amount" | "beneficiary" | "currency" | "reference">> => {
  const given = paymentMemoOf(WORKFLOW.payout, input);
  const sent = run && (await orNull(readPayment(temporal, run, input)));
  const { amount = "", currency = "", payee = "" } = sent ?? given ?? {};
  const numbers = "beneficiary" in input ? accountNumbersOf(input.beneficiary) : [];
  const reference = withoutAccounts(textAt(input.payout, "payout_reference") ?? "", numbers);
  return { amount, currency, reference, beneficiary: payee };
};

const closedRun = async (temporal: Temporal, run: WorkflowExecutionInfo): Promise<What> => {
  const { runId, workflowId } = run;
  const ending = await awaitEnding(temporal, { workflowId, runId });
  if (ending.state !== "completed") {
    const { failure, inDoubt } = await explainFailure(temporal, run, ending.failure);
    return {
      payout_id: textAt(failure.details, "payout_id") ?? "",
      state: ending.state,
      failure: failure.type,
      reason: failure.message,
      ...(inDoubt.length > 0 && { next: { operation: "describe", workflowId } as const }),
    };
  }
  // What the workflow returns.
  const { complete_time, outcome, payout_id, payout_status } = ending.result as PayoutResult;
  return outcome === "open"
    ? { payout_id, state: "unfinished", reason: payout_status ?? "" }
    : { payout_id, state: "completed", reason: "", completed_at: complete_time ?? "" };
};

const NOT_KNOWN: What = {
  payout_id: "",
  state: "notStarted",
  reason: "Temporal knows no run of it: it was not started, or the run was deleted since",
};

/** What became of a row that Temporal does not know, as the journal has it. */
const recorded = async (journal: Journal | undefined, row: BatchRow): Promise<What> => {
  if (journal === undefined) return NOT_KNOWN;
  const { payout_id, sends } = await sendsOfRow(journal, row);
  switch (sends) {
    case "otherPayment":
      return {
        payout_id: "",
        state: "otherPayment",
        reason: `its key was used for another payment, as the journal has it${payout_id === "" ? "" : `: ${payout_id}`}`,
      };
    case "paid":
      return {
        payout_id,
        state: "forgotten",
        reason: "its payout was created, as the journal has it",
      };
    case "inDoubt":
      return {
        payout_id: "",
        state: "forgotten",
        reason:
          "it was sent, and the journal has no answer: it may have been paid; import the file again, which reconciles it before it sends anything",
      };
    default:
      return NOT_KNOWN;
  }
};

const what = async (
  temporal: Temporal,
  row: BatchRow,
  run: WorkflowExecutionInfo | undefined,
  { isOfRow, journal }: { readonly isOfRow: boolean; readonly journal: Journal | undefined },
): Promise<What> => {
  if (run === undefined) return recorded(journal, row);
  if (!isOfRow) {
    return {
      payout_id: "",
      state: "otherPayment",
      reason: "its key was used for another payment",
    };
  }
  return isOpenState(stateNameOf(run)) ? openRun(run) : await closedRun(temporal, run);
};

/**
 * Read what became of a row, from the latest run of its id.
 *
 * @param journal of the account that pays, where it can be read.
 */
export const outcomeOf = async (
  temporal: Temporal,
  row: BatchRow,
  run: WorkflowExecutionInfo | undefined,
  journal?: Journal,
): Promise<RowOutcome> => {
  const isOfRow = run !== undefined && (await isRunOfRow(temporal.client, row, run));
  return {
    row: row.row,
    key: row.key,
    workflow_id: row.workflowId,
    run_id: run?.runId ?? "",
    ...(await paymentOf(temporal, row, isOfRow ? run : undefined)),
    completed_at: "",
    failure: "",
    ...(await what(temporal, row, run, { isOfRow, journal })),
  };
};
