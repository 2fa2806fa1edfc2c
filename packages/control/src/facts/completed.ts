import { type Event, firstOf, timeOf } from "./history.ts";

/** Reads the input of the workflow of a history. */
export const startInputOf = ([first]: ReadonlyArray<Event>): unknown =>
  firstOf(first?.workflowExecutionStartedEventAttributes?.input);

/** Reads the memo of a run from its history. Anyone may have written it. */
export const memoOf = ([first]: ReadonlyArray<Event>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(first?.workflowExecutionStartedEventAttributes?.memo?.fields ?? {}).map(
      ([name, payload]) => [name, firstOf({ payloads: [payload] })],
    ),
  );

/** Reads the activities that have completed, in the order of their ends. */
export const completedOf = (events: ReadonlyArray<Event>) => {
  const byId = new Map(events.map((event) => [String(event.eventId), event]));
  return events.flatMap((event) => {
    const completed = event.activityTaskCompletedEventAttributes;
    const scheduled = byId.get(String(completed?.scheduledEventId));
    const { activityType, input, taskQueue } =
      scheduled?.activityTaskScheduledEventAttributes ?? {};
    return completed && activityType
      ? {
          type: activityType.name ?? "",
          taskQueue: taskQueue?.name ?? "",
          input: firstOf(input),
          result: firstOf(completed.result),
          /** Milliseconds since 1970. */
          at: timeOf(event),
        }
      : [];
  });
};
