import type { Client } from "@temporalio/client";
import proto, { type temporal } from "@temporalio/proto";
import type { RunOfId } from "./first-event.ts";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const { RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST } =
  proto.temporal.api.enums.v1.ResetReapplyExcludeType;

type EventId = NonNullable<HistoryEvent["eventId"]>;

/** What a workflow task has scheduled: an activity or a child, by its id. */
const scheduledBy = (
  event: HistoryEvent,
): { readonly id: string; readonly task: EventId } | undefined => {
  const activity = event.activityTaskScheduledEventAttributes;
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  const task = (activity ?? child)?.workflowTaskCompletedEventId;
  return task === null || task === undefined
    ? undefined
    : { id: activity?.activityId ?? child?.workflowId ?? "", task };
};

/**
 * Finds the workflow task that has scheduled the failing step: what happened before it is kept.
 *
 * @param events the history of the failed run.
 * @param failed id of the activity or child that has failed; undefined where the failure names none.
 * @returns id of its completion; the last workflow task where nothing was scheduled, undefined where there was none.
 */
export const resetPoint = (
  events: ReadonlyArray<HistoryEvent>,
  failed: string | undefined,
): EventId | undefined => {
  const scheduled = events.flatMap((event) => scheduledBy(event) ?? []);
  const named = scheduled.findLast(({ id }) => id === failed);
  if (named !== undefined) return named.task;
  const completed = events.findLast(({ workflowTaskCompletedEventAttributes }) =>
    Boolean(workflowTaskCompletedEventAttributes),
  );
  return completed?.eventId ?? undefined;
};

/**
 * Resets a failed run of a user's own workflow to the task that scheduled the failing step: its own activities keep
 * their results, and signals that it has received are given again.
 *
 * @returns the id of the new run; undefined where the run had done nothing that could be kept.
 */
export const resetRun = async (
  client: Client,
  run: RunOfId,
  { failed, reason }: { readonly failed: string | undefined; readonly reason: string },
): Promise<string | undefined> => {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const point = resetPoint(events ?? [], failed);
  if (point === undefined) return undefined;
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    identity: client.options.identity,
    workflowExecution: { workflowId: run.workflowId, runId: run.runId },
    reason,
    workflowTaskFinishEventId: point,
    // A run is retried once, whoever asks for it again: a second request gets the run of the first.
    requestId: `retry-${run.runId}`,
    resetReapplyExcludeTypes: [RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST],
  });
  return runId;
};
