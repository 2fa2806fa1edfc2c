import type { Event, EventId } from "./events.ts";

const LOCAL_ACTIVITY = "core_local_activity";

/** Whether an event is of a command that its workflow can give once more: nothing was sent by it. */
const isRepeatable = (event: Event): boolean =>
  Boolean(
    event.markerRecordedEventAttributes ??
    event.upsertWorkflowSearchAttributesEventAttributes ??
    event.workflowPropertiesModifiedEventAttributes,
  );

/** Whether an event is of a workflow task itself, other than its end: nothing has come, and nothing was done. */
const isOfTask = (event: Event): boolean =>
  Boolean(
    event.workflowTaskScheduledEventAttributes ??
    event.workflowTaskStartedEventAttributes ??
    event.workflowTaskFailedEventAttributes ??
    event.workflowTaskTimedOutEventAttributes,
  );

/** Whether a workflow task ended with a local activity, could do all of it once more, and the next one came by itself. */
const endsWithLocalActivity = (events: ReadonlyArray<Event>): boolean => {
  const scheduled = events.findIndex((event) => event.workflowTaskScheduledEventAttributes);
  const written = events.slice(0, scheduled);
  return (
    written.every(isRepeatable) &&
    written.at(-1)?.markerRecordedEventAttributes?.markerName === LOCAL_ACTIVITY &&
    events.slice(scheduled).every(isOfTask)
  );
};

/** Whether a workflow task took an update: what began in it began by that. */
const hasUpdate = (events: ReadonlyArray<Event>): boolean => {
  const next = events.find(
    (event) => isOfTask(event) || event.workflowExecutionUpdateAcceptedEventAttributes,
  );
  return Boolean(next?.workflowExecutionUpdateAcceptedEventAttributes);
};

/**
 * Find the workflow task that a run is to be reset to, so that what began in one is done anew. A workflow task may end
 * with a local activity, while a query is answered, say: a replay of it then runs on into the code of the next one,
 * which takes itself for replayed and does not read why the run was reset. So the reset is to the one before.
 *
 * @param events of the run.
 * @param taskEnd the event that ended the workflow task in which it began.
 * @returns the event that ended the workflow task to reset to.
 */
export const resetPoint = (events: ReadonlyArray<Event>, taskEnd: EventId): EventId => {
  const end = events.findIndex(({ eventId }) => String(eventId) === String(taskEnd));
  const before = events
    .slice(0, Math.max(0, end))
    .findLast((event) => event.workflowTaskCompletedEventAttributes);
  if (!before?.eventId || hasUpdate(events.slice(end + 1))) return taskEnd;
  return endsWithLocalActivity(events.slice(events.indexOf(before) + 1, end))
    ? resetPoint(events, before.eventId)
    : taskEnd;
};
