import {
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { CancelledFailure, TerminatedFailure, TimeoutFailure } from "@temporalio/common";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput, NotFound, refused } from "../errors.ts";
import { type Failure, readFailure } from "../history/failure.ts";
import { batchStateOf, endingOfRun } from "./batch-state.ts";
import { explainFailure } from "./explain-failure.ts";
import { type BrokenState, isOpenState, type OpenState } from "./state-name.ts";

/** How a run ended. */
export type Ending =
  | { readonly state: "completed"; readonly result: unknown }
  | { readonly state: BrokenState; readonly failure: Failure };

/** How a run ended, where it may be a batch: one that was cancelled has a result all the same. */
export type RunEnding = Ending | { readonly state: "cancelled"; readonly result: unknown };

/** A run, and how it stands. */
export type RunState = {
  readonly workflowId: string;
  readonly runId: string;
} & ({ readonly state: OpenState } | RunEnding);

/** What Temporal says of a run that did not end by itself stands in the failure of the wait for it. */
const brokenStateOf = ({ cause }: WorkflowFailedError): BrokenState => {
  if (cause instanceof CancelledFailure) return "cancelled";
  if (cause instanceof TerminatedFailure) return "terminated";
  return cause instanceof TimeoutFailure ? "timedOut" : "failed";
};

/** Await the end of a run, at once where it has ended; follows it when it continues as new. */
export const awaitEnding = async (
  { client }: Temporal,
  run: { readonly workflowId: string; readonly runId?: string },
): Promise<Ending> => {
  try {
    const result: unknown = await client.workflow.result(run.workflowId, run.runId);
    return { state: "completed", result };
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return { state: brokenStateOf(error), failure: readFailure(error) };
  }
};

/** How a run ended, and where it did not complete, what is known beside of what it has sent. */
export const explainedEnding = async (
  temporal: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
  ending: Ending,
): Promise<Ending> => {
  if (ending.state === "completed") return ending;
  const run = await temporal.client.workflow.getHandle(workflowId, runId).describe();
  return { ...ending, failure: (await explainFailure(temporal, run, ending.failure)).failure };
};

/** Make the error for a run that Temporal does not know. */
export const notFound = (
  { address, namespace }: Temporal["settings"],
  { runId, workflowId }: { readonly workflowId: string; readonly runId?: string | undefined },
): NotFound =>
  new NotFound({
    message: `There is no run with the id ${workflowId}${runId === undefined ? "" : ` and the run id ${runId}`} in the namespace "${namespace}" of ${address}.`,
  });

/**
 * Describe the latest run of a workflow id, or the one of a run id.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param runId which of its runs; the latest where it is left out.
 * @returns Temporal's description.
 * @throws InvalidInput when no run can have that id; NotFound when Temporal knows none that has it.
 */
export const describeRun = async (
  temporal: Temporal,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription> => {
  // A caller without types can give anything.
  const id: unknown = workflowId;
  if (typeof id !== "string" || id === "" || /\p{Cs}/u.test(id)) {
    throw invalidInput("The id of the run must not be empty, and have whole characters only.");
  }
  const { client, settings } = temporal;
  try {
    return await client.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw notFound(settings, { workflowId, runId });
  }
};

/**
 * Describe the latest run of a workflow id, for who acts on what they have seen of it.
 *
 * @param expectedRunId the run that was seen; undefined where any is meant that is the latest.
 * @throws NotFound where there is no such run; Refused where the latest is another one by now.
 */
export const describeExpected = async (
  temporal: Temporal,
  workflowId: string,
  expectedRunId: string | undefined,
): Promise<WorkflowExecutionDescription> => {
  const run = await describeRun(temporal, workflowId);
  if (expectedRunId === undefined || expectedRunId === run.runId) return run;
  throw refused(
    `The latest run of ${workflowId} is ${run.runId} by now, and not ${expectedRunId}: see what it does before you decide anew. Nothing was done.`,
    { operation: "describe", workflowId },
  );
};

/** Whether a described run goes on: it waits for something, or works. */
export const isUnderWay = ({ status }: Pick<WorkflowExecutionDescription, "status">): boolean =>
  status.name === "RUNNING" || status.name === "PAUSED";

/**
 * Read how a described run stands, with its result or failure when it has ended.
 *
 * @param temporal the connection of `withTemporal`.
 * @param description what `describeRun` returns.
 * @returns its state; a run that was continued as new goes on.
 */
export const stateOf = async (
  temporal: Temporal,
  description: WorkflowExecutionDescription,
): Promise<RunState> => {
  const { runId, workflowId } = description;
  const state = await batchStateOf(temporal, description);
  if (isOpenState(state)) return { workflowId, runId, state };
  const ending = await awaitEnding(temporal, { workflowId, runId });
  const explained = await explainedEnding(temporal, { workflowId, runId }, ending);
  return { workflowId, runId, ...endingOfRun(workflowId, explained) };
};
