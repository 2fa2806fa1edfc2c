import { isRecord } from "@durable-payments/api-core/values";
import { type FailureFacts, failureTypes } from "@durable-payments/protocol/calls";
import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
} from "@temporalio/client";
import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
} from "@temporalio/common";
import type { temporal } from "@temporalio/proto";
import type { Actor } from "@durable-payments/ledger";
import { findRun } from "../connection/temporal.ts";
import { NotFound } from "../errors.ts";

const ENDED = "Ended by a person's decision: ";

/** Says in Temporal's history that a person ends a run, so that `recover` finds an end that the ledger has lost. */
export const endText = ({ by, reason }: Actor): string => `${ENDED}${by}: ${reason ?? ""}`;

/** Whether a run was asked to end by {@link endText}: cancelling it by Temporal's own tools is no person's end. */
export const isEndRequested = (
  events: ReadonlyArray<temporal.api.history.v1.IHistoryEvent>,
): boolean =>
  events.some(({ workflowExecutionCancelRequestedEventAttributes: requested }) =>
    requested?.cause?.startsWith(ENDED),
  );

/** Why a run has failed, as far as its failure says. */
export interface RunFailure {
  /** A type of `failureTypes`, or of a user's own; undefined where the run timed out or was terminated by hand. */
  readonly type: string | undefined;
  readonly message: string;
  /** The step that has failed, and the version of its row. */
  readonly facts: Partial<FailureFacts> | undefined;
  /** Id of the activity, or of the child, that has failed. */
  readonly failed: string | undefined;
}

/** The latest run of a workflow id, and why it failed. */
export interface FailedRun {
  readonly run: WorkflowExecutionDescription;
  /** Undefined where it is open or has completed. */
  readonly failure: RunFailure | undefined;
}

const OURS: ReadonlySet<string> = new Set(Object.values(failureTypes));

/** Reads what the result of a run rejects with: the cause that this project has made, else the innermost one. */
export const failureOf = (error: unknown): RunFailure => {
  let failed: string | undefined;
  let found: ApplicationFailure | undefined;
  let message = error instanceof Error ? error.message : String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    message = cause.message || message;
    if (cause instanceof ActivityFailure) failed = cause.activityId ?? undefined;
    if (cause instanceof ChildWorkflowFailure) failed = cause.execution.workflowId ?? undefined;
    if (cause instanceof ApplicationFailure) {
      if (found === undefined || !OURS.has(found.type ?? "")) found = cause;
    }
  }
  const isEnded = error instanceof TerminatedFailure && error.message.startsWith(ENDED);
  const [facts] = found?.details ?? [];
  return {
    type: isEnded ? failureTypes.ended : (found?.type ?? undefined),
    message: found?.message ?? message,
    facts: isRecord(facts) ? facts : undefined,
    failed,
  };
};

const OPEN: ReadonlySet<string> = new Set(["RUNNING", "PAUSED", "CONTINUED_AS_NEW"]);

/** Reads a run of a workflow id, by default the latest, and why it failed; throws NotFound where there is none. */
export const readFailedRun = async (
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<FailedRun> => {
  const run = await findRun(client, workflowId, runId);
  if (run === undefined)
    throw new NotFound({ message: `Temporal knows no run ${workflowId}. Nothing was done.` });
  if (OPEN.has(run.status.name) || run.status.name === "COMPLETED")
    return { run, failure: undefined };
  try {
    await client.workflow.getHandle(workflowId, run.runId, { followRuns: false }).result();
    return { run, failure: undefined };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { run, failure: failureOf(error.cause ?? error) };
  }
};

/** Returns the topmost parent of a run: rows of the ledger are kept under it, and a retry starts there. */
export const rootOf = ({ raw, workflowId }: WorkflowExecutionDescription): string =>
  raw.workflowExecutionInfo?.rootExecution?.workflowId || workflowId;
