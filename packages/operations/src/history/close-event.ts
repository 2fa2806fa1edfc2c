import proto from "@temporalio/proto";
import type { Temporal } from "../connection/temporal.ts";
import { decoded, type Event, stageOf, timeOf } from "./events.ts";
import type { Failure } from "./failure.ts";
import { failureOf, masked } from "./masked.ts";

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } =
  proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Read the last event of a run that has ended, and nothing else of its history. */
export const readCloseEvent = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<Event | undefined> => {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return history?.events?.at(-1);
};

/** How a run ended, by its last event: its result, or why it failed; neither where it goes on. */
export const endingOf = (
  last: Event | undefined,
): { readonly result: unknown; readonly failure: Failure | null } => {
  const [result] = last?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
  if (result) {
    return { result: masked(decoded(result)), failure: null };
  }
  const failed = last?.workflowExecutionFailedEventAttributes;
  if (failed) return { result: null, failure: failureOf(failed.failure) };
  const terminated = last?.workflowExecutionTerminatedEventAttributes;
  if (terminated) {
    const message = masked(terminated.reason) || "No reason was given.";
    return { result: null, failure: { type: "Terminated", message } };
  }
  if (last?.workflowExecutionTimedOutEventAttributes) {
    return { result: null, failure: { type: "TimedOut", message: "The run took too long." } };
  }
  return last?.workflowExecutionCanceledEventAttributes
    ? { result: null, failure: { type: "Cancelled", message: "The run was cancelled." } }
    : { result: null, failure: null };
};

/** So many events of a run's end are read for its stage: more than most runs have in all. */
const LAST_EVENTS = 200;

/** Whether the stage of a run holds since an event: it writes it, or the run was started or reset then. */
const beginsStage = (event: Event): boolean =>
  stageOf(event) !== undefined ||
  Boolean(event.workflowExecutionStartedEventAttributes) ||
  Boolean(event.workflowTaskFailedEventAttributes?.newRunId);

/** Since when a run is at its stage, ISO 8601; null where that is longer ago than its last events go back. */
export const readStageTime = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<string | null> => {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: LAST_EVENTS,
  });
  const began = history?.events?.find(beginsStage);
  return began === undefined ? null : timeOf(began);
};
