import type { StepProgress } from "@durable-payments/workflows";
import { defaultPayloadConverter } from "@temporalio/common";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { Temporal } from "../connection/temporal.ts";

type Event = NonNullable<History["events"]>[number];

const timeOf = ({ eventTime }: Event): string =>
  new Date(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();

const noteOf = ({ userMetadata }: Event) =>
  userMetadata?.summary
    ? { note: defaultPayloadConverter.fromPayload<string>(userMetadata.summary) }
    : {};

/** The event by which an activity ended, and how. */
const endOf = (event: Event) => {
  const failed =
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  const ended = event.activityTaskCompletedEventAttributes ?? failed;
  return ended && { scheduledBy: String(ended.scheduledEventId), isDone: ended !== failed };
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
    const end = endOf(event);
    const step = end && steps.get(end.scheduledBy);
    if (end && step) {
      const status = end.isDone ? "done" : "failed";
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
