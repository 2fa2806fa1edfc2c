/*
 * Plans the retry of a run from facts, without asking anybody.
 *
 * A retry is safe in any case, because completed steps return their results. But it may be useless: the same failure
 * would come again. So a plan says which steps are kept, and refuses a retry that cannot help, with the action that
 * does. A person's retry plans from Temporal's facts, a repair of thousands of runs from those of the ledger.
 */
import {
  answerTo,
  type Decision,
  type EndState,
  type RecordedWrite,
  type Run,
  type WriteRow,
} from "@durable-payments/ledger";
import { WORKFLOW } from "@durable-payments/protocol";
import { failureTypes } from "@durable-payments/protocol/calls";
import { factsOf, type Failure } from "@durable-payments/protocol/failures";

/** Facts from which a retry is planned. */
export interface Planning {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly state: EndState | "running";
  readonly failure: Failure | null;
  readonly rows: ReadonlyArray<WriteRow & Partial<Pick<RecordedWrite, "standing">>>;
  /** A person ended the workflow id, and nobody has overridden that. */
  readonly end: Decision | undefined;
  readonly decisions: ReadonlyArray<Decision>;
  readonly isAmended: boolean;
  readonly isRestarted: boolean;
  readonly isOverruled: boolean;
  /** The step from which a user's own workflow continues; by default the one that failed. */
  readonly from?: string | undefined;
}

/** Why a retry cannot help, and the way in which one can. */
export interface CannotRetry {
  readonly whyNot: string;
  /** A retry with this option may help. */
  readonly needs?: "isOverruling" | "isRestarted";
}

/** How a run is retried. */
export interface RetryPlan {
  readonly workflowId: string;
  readonly runId: string;
  /** `start`: the id is started again. `reset`: its own activities keep their results. `look`: the run is open. */
  readonly way: "start" | "reset" | "look";
  /** Steps that are kept. */
  readonly kept: ReadonlyArray<string>;
  /** Steps that may be sent again, with their states. */
  readonly again: ReadonlyArray<{ readonly step: string; readonly state: WriteRow["state"] }>;
  /** Versions of rows that the failed run named: `not sent` is believed if they agree. */
  readonly versions: Readonly<Record<string, number>>;
  /** The chosen step from which it is reset. */
  readonly from?: string | undefined;
}

/** The project's own workflows: their steps are writes and waits, so that a new start repeats nothing. */
const RESTARTED: ReadonlySet<string> = new Set([
  WORKFLOW.payout,
  WORKFLOW.onboardCardholder,
  WORKFLOW.runBatch,
]);

/** A payout is made once: a retry would return the one that was made. */
const NOT_PAID: Readonly<Record<string, string>> = {
  failed: "Its payout was made, and failed at the service",
  returned: "Its payout was made, and its money came back",
};

const notPaidText = (standing: string): string =>
  `${NOT_PAID[standing]}: a retry does not pay again. To pay again, use another id or key.`;

/** Failures after which another request may succeed. */
const OF_REQUEST: ReadonlyArray<string> = [
  failureTypes.invalidRequest,
  failureTypes.alreadyCarriedOut,
];

/** The reason why a repeat fails again, by type of failure. */
const HOPELESS: Readonly<Record<string, string>> = {
  [failureTypes.invalidRequest]: "Its input is invalid: amend it.",
  [failureTypes.alreadyCarriedOut]:
    "Another request has already succeeded under this id or key. If it was for the same, there is nothing to do. Otherwise use another key, and pay only the difference.",
  [failureTypes.madeTwice]: "It was made twice: sort it out with the bank.",
};

/** Outcomes of an identity check that stay: an incomplete one may pass later, and an open one ends. */
const DECIDED: ReadonlyArray<unknown> = ["refused", "removed"];

/** The reason why every retry of the run fails; undefined if a retry may succeed. */
const hopelessOf = (failure: Failure): string | undefined =>
  failure.type === failureTypes.notVerified && DECIDED.includes(factsOf(failure)["reason"])
    ? "The service has refused the cardholder's identity: onboard another cardholder under a new id."
    : HOPELESS[failure.type];

/** Returns why a retry cannot help; undefined if it may. */
const whyNotRetried = ({
  decisions,
  end,
  failure,
  isAmended,
  isOverruled,
  rows,
  state,
  workflowId,
  workflowType,
}: Omit<Planning, "from" | "isRestarted" | "runId">): CannotRetry | undefined => {
  const cannotHelp = (reason: string): CannotRetry => ({
    whyNot: `A retry of ${workflowId} cannot help. ${reason}`,
  });
  const notPaid = rows.find(({ standing }) => standing && standing in NOT_PAID)?.standing;
  // The failure tells the outcome of then, which may be another one now.
  if (notPaid && (workflowType === WORKFLOW.payout || failure?.type === failureTypes.payoutFailed))
    return cannotHelp(notPaidText(notPaid));
  if (state === "succeeded")
    return { whyNot: `${workflowId} has completed: there is nothing to retry.` };
  if (end !== undefined && !isOverruled)
    return {
      whyNot: `${end.by} stopped ${workflowId}${end.reason === null ? "" : ` (${end.reason})`}. To retry it, override the stop order with a name and a reason: then another person has to approve what is sent.`,
      needs: "isOverruling",
    };
  const asking = rows.find((row) => row.state === "asking" && !answerTo(row, decisions));
  if (asking !== undefined)
    return {
      whyNot: `${asking.step} of ${workflowId} is waiting for an answer: ${asking.question?.reason ?? asking.message ?? "its outcome is unknown."} A retry would ask the same question.`,
    };
  const hopeless = failure === null ? undefined : hopelessOf(failure);
  if (hopeless === undefined) return undefined;
  const type = failure?.type ?? "";
  // A user's own workflow makes its requests by code and activities, which may have been corrected.
  const isHelped = RESTARTED.has(workflowType)
    ? isAmended && type === failureTypes.invalidRequest
    : OF_REQUEST.includes(type);
  return isHelped ? undefined : cannotHelp(hopeless);
};

/** Plans a retry: kept steps, and steps that may be sent again; or returns why it cannot help. */
export const planRetry = (planning: Planning): RetryPlan | CannotRetry => {
  const { failure, from, isAmended, isRestarted, rows, runId, workflowId, workflowType } = planning;
  const isUnderWay = planning.state === "running";
  const why = isUnderWay ? undefined : whyNotRetried(planning);
  if (why !== undefined) return why;
  const { step, version, workflowId: of = workflowId } = factsOf(failure);
  const isStarted = isAmended || isRestarted || RESTARTED.has(workflowType);
  const way = isUnderWay ? "look" : isStarted ? "start" : "reset";
  if (from !== undefined && way !== "reset")
    return {
      whyNot: isUnderWay
        ? `${workflowId} is open: only an ended run can continue from a step.`
        : `${workflowId} is started again, and each completed step returns its result: it cannot continue from ${from}. Leave the step out.`,
    };
  const undone = rows.find(({ state }) => state === "undone");
  if (way === "reset" && undone !== undefined)
    return {
      whyNot: `${workflowId} undid ${undone.step}: a reset would continue as if it had not. Start it again from the beginning.`,
      needs: "isRestarted",
    };
  return {
    workflowId,
    runId,
    way,
    kept: rows.filter(({ state }) => state === "done").map((row) => row.step),
    again: rows
      .filter(({ state }) => state !== "done")
      .map(({ state, step: name }) => ({ step: name, state })),
    // The row of a child, or of a key, has another workflow id.
    versions:
      of === workflowId && typeof step === "string" && typeof version === "number"
        ? { [step]: version }
        : {},
    ...(from !== undefined && { from }),
  };
};

/** Returns the failure of a run as the ledger has it, for the plan of its retry. */
export const recordedFailure = ({
  endFacts,
  endReason,
  endStep,
  endType,
}: Pick<Run, "endFacts" | "endReason" | "endStep" | "endType">): Failure | null =>
  endType === null
    ? null
    : {
        type: endType,
        message: endReason ?? "",
        details: { step: endStep, ...endFacts },
        ...(endStep !== null && { step: endStep }),
      };
