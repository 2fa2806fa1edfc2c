import type { Client } from "@temporalio/client";
import proto, { type temporal } from "@temporalio/proto";
import { isExecutionMissing } from "./missing-execution.ts";

const { CONTINUE_AS_NEW_INITIATOR_RETRY } = proto.temporal.api.enums.v1.ContinueAsNewInitiator;

/** One run of a workflow id. */
export interface RunExecution {
  /** The id under which it was started. */
  readonly workflowId: string;
  /** The id that the server has given this run of it. */
  readonly runId: string;
}

/** The latest run of a workflow id, or one of them. */
type AnyRun = Pick<RunExecution, "workflowId"> & Partial<RunExecution>;

/** The events of a run, in the order in which they came. */
export type History = ReadonlyArray<temporal.api.history.v1.IHistoryEvent>;

/** How a run was started, as the server has written it into its first event. */
export type Start = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;

const unlessGone = async <A>(reading: Promise<A>): Promise<A | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isExecutionMissing(error)) return undefined;
    throw error;
  }
};

/**
 * Read all events of a run.
 *
 * @returns undefined where its history is gone.
 */
export const readHistory = async (
  client: Client,
  { runId, workflowId }: AnyRun,
): Promise<History | undefined> => {
  const fetched = await unlessGone(client.workflow.getHandle(workflowId, runId).fetchHistory());
  return fetched && (fetched.events ?? []);
};

/**
 * Read how a run was started; a run that a reset made has the start of the one that was reset.
 *
 * @returns undefined where its history is gone.
 */
export const readStart = async (
  client: Client,
  { runId, workflowId }: RunExecution,
): Promise<Start | undefined> => {
  const read = await unlessGone(
    client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    }),
  );
  return read && startIn(read.history?.events ?? []);
};

/** How the run of a history was started. */
export const startIn = (history: History): Start | undefined =>
  history[0]?.workflowExecutionStartedEventAttributes ?? undefined;

/** The run that all resets of an execution go back to. */
export const executionOf = (
  { runId }: Pick<RunExecution, "runId">,
  start: Start | undefined,
): string => start?.originalExecutionRunId || runId;

/** Whether a run is another attempt of a retry policy. */
export const isAttempt = ({ initiator }: Start): boolean =>
  initiator === CONTINUE_AS_NEW_INITIATOR_RETRY;
