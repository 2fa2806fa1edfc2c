import proto from "@temporalio/proto";
import type { History } from "../../src/index.ts";

type Event = { readonly eventType: string } & Readonly<Record<string, unknown>>;

const data = (...values: ReadonlyArray<unknown>) => ({
  payloads: values.map((value) => ({
    metadata: { encoding: btoa("json/plain") },
    data: btoa(JSON.stringify(value)),
  })),
});

/** The event number of the workflow task's completion in a history of {@link historyOf}. */
const DECIDED = { workflowTaskCompletedEventId: "4" };

export const activityScheduled = (name: string, activityId = "1"): Event => ({
  eventType: "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
  activityTaskScheduledEventAttributes: { ...DECIDED, activityId, activityType: { name } },
});

/** The activity of a step, as `@durable-payments/workflows` schedules it. */
export const sent = (step: string): Event => ({
  eventType: "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
  activityTaskScheduledEventAttributes: {
    ...DECIDED,
    activityId: "1",
    activityType: { name: "send" },
    input: data({ step, request: { amount: "1.00" }, call: 1 }),
  },
});

export const childInitiated = (workflowType: string, workflowId: string): Event => ({
  eventType: "EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED",
  startChildWorkflowExecutionInitiatedEventAttributes: {
    ...DECIDED,
    workflowId,
    workflowType: { name: workflowType },
  },
});

export const timerStarted = (timerId = "1"): Event => ({
  eventType: "EVENT_TYPE_TIMER_STARTED",
  timerStartedEventAttributes: { ...DECIDED, timerId, startToFireTimeout: { seconds: 60 } },
});

export const localActivityRecorded = (activityType: string): Event => ({
  eventType: "EVENT_TYPE_MARKER_RECORDED",
  markerRecordedEventAttributes: {
    ...DECIDED,
    markerName: "core_local_activity",
    details: {
      data: data({
        seq: 1,
        attempt: 1,
        activity_id: "1",
        activity_type: activityType,
        complete_time: { seconds: 1_795_255_200, nanos: 0 },
        backoff: null,
        original_schedule_time: { seconds: 1_795_255_200, nanos: 0 },
      }),
      result: { payloads: [{ metadata: { encoding: btoa("binary/null") } }] },
    },
  },
});

export const patchRecorded = (id: string): ReadonlyArray<Event> => [
  {
    eventType: "EVENT_TYPE_MARKER_RECORDED",
    markerRecordedEventAttributes: {
      ...DECIDED,
      markerName: "core_patch",
      details: { "patch-data": data({ id, deprecated: false }) },
    },
  },
  {
    eventType: "EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
    upsertWorkflowSearchAttributesEventAttributes: {
      ...DECIDED,
      searchAttributes: { indexedFields: { TemporalChangeVersion: data([id]).payloads[0] } },
    },
  },
];

export const completed: Event = {
  eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED",
  workflowExecutionCompletedEventAttributes: DECIDED,
};

const taskQueue = { name: "payments", kind: "TASK_QUEUE_KIND_NORMAL" };

/** The first events of a history. */
export const beginOf = ({ events }: History, length: number): History => ({
  events: (events ?? []).slice(0, length),
});

/** A history of one workflow task, in which these events were decided. */
export const historyOf = (workflowType: string, ...decided: ReadonlyArray<Event>): History => {
  const events: ReadonlyArray<Event> = [
    {
      eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
      workflowExecutionStartedEventAttributes: {
        workflowType: { name: workflowType },
        taskQueue,
        originalExecutionRunId: "11111111-1111-4111-8111-111111111111",
        firstExecutionRunId: "11111111-1111-4111-8111-111111111111",
        workflowTaskTimeout: { seconds: 10 },
        attempt: 1,
      },
    },
    {
      eventType: "EVENT_TYPE_WORKFLOW_TASK_SCHEDULED",
      workflowTaskScheduledEventAttributes: { taskQueue, attempt: 1 },
    },
    {
      eventType: "EVENT_TYPE_WORKFLOW_TASK_STARTED",
      workflowTaskStartedEventAttributes: { scheduledEventId: "2" },
    },
    {
      eventType: "EVENT_TYPE_WORKFLOW_TASK_COMPLETED",
      workflowTaskCompletedEventAttributes: {
        scheduledEventId: "2",
        startedEventId: "3",
        sdkMetadata: { coreUsedFlags: [1, 2, 3], sdkName: "temporal-typescript" },
      },
    },
    ...decided,
  ];
  return proto.temporal.api.history.v1.History.fromObject({
    events: events.map((event, index) => ({
      ...event,
      eventId: String(index + 1),
      eventTime: { seconds: 1_795_255_200 },
    })),
  });
};
