import type { StepProgress } from "@durable-payments/protocol";
import { defaultPayloadConverter } from "@temporalio/common";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { temporal } from "@temporalio/proto";
import type { Temporal } from "../connection/temporal.ts";

/** An event of a history. */
export type Event = NonNullable<History["events"]>[number];

/** When an event happened, ISO 8601. */
export const timeOf = ({ eventTime }: Event): string =>
  new Date(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();

/** What an activity or a timer is for, as its workflow says it. */
export const summaryOf = ({ userMetadata }: Event): string | undefined =>
  userMetadata?.summary
    ? defaultPayloadConverter.fromPayload<string>(userMetadata.summary)
    : undefined;

/** What an event writes into a search attribute, if it writes that one. */
export const searchAttributeOf = (event: Event, name: string): unknown => {
  const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes ?? {};
  const written = searchAttributes?.indexedFields?.[name];
  return written ? defaultPayloadConverter.fromPayload<unknown>(written) : undefined;
};

const noteOf = (event: Event) => {
  const note = summaryOf(event);
  return note === undefined ? {} : { note };
};

/** How an activity ended. */
export interface ActivityEnd {
  /** Event at which it was scheduled. */
  readonly scheduledBy: string;
  readonly outcome: "done" | "failed" | "timedOut" | "cancelled";
  readonly result: temporal.api.common.v1.IPayload | undefined;
  readonly failure: temporal.api.failure.v1.IFailure | undefined;
}

/** The end of an activity; undefined where the event is no such end. */
export const activityEndOf = (event: Event): ActivityEnd | undefined => {
  const {
    activityTaskCanceledEventAttributes: cancelled,
    activityTaskCompletedEventAttributes: done,
    activityTaskFailedEventAttributes: failed,
    activityTaskTimedOutEventAttributes: timedOut,
  } = event;
  const ended = done ?? failed ?? timedOut ?? cancelled;
  if (!ended) return undefined;
  return {
    scheduledBy: String(ended.scheduledEventId),
    outcome: done ? "done" : failed ? "failed" : timedOut ? "timedOut" : "cancelled",
    result: done?.result?.payloads?.[0],
    failure: failed?.failure ?? timedOut?.failure ?? undefined,
  };
};

/** The activities of a run as its history tells of them: what is known without a worker. */
export const stepsOfHistory = ({ events }: History): ReadonlyArray<StepProgress> => {
  const steps = new Map<string, StepProgress>();
  for (const event of events ?? []) {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (name) {
      const since = timeOf(event);
      steps.set(String(event.eventId), { name, status: "running", since, ...noteOf(event) });
    }
    const end = activityEndOf(event);
    const step = end && steps.get(end.scheduledBy);
    if (end && step) {
      const status = end.outcome === "done" ? "done" : "failed";
      steps.set(end.scheduledBy, { ...step, status, until: timeOf(event) });
    }
  }
  return [...steps.values()];
};

/** Reads the steps of a run from its history. */
export const readSteps = async (
  { client }: Temporal,
  run: { readonly workflowId: string; readonly runId: string },
): Promise<ReadonlyArray<StepProgress>> =>
  stepsOfHistory(await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory());
