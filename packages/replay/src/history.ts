import type { History } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { parseEvents } from "./history-json.ts";
import { MARKER, type RecordedActivity } from "./record.ts";
import { stepOf } from "./step.ts";

export type { History } from "@temporalio/common/lib/proto-utils.js";

/** What was read is no history; the message says why, and repeats nothing of it. */
export class InvalidHistory extends Error {
  override readonly name = "InvalidHistory";
}

/**
 * Read a history as Temporal's command line, its Web UI and `writeHistory` write it.
 *
 * @throws InvalidHistory
 */
export const readHistory = (json: unknown): History => {
  const history = parsed(json);
  const events = history.events ?? [];
  if (!events[0]?.workflowExecutionStartedEventAttributes) {
    throw new InvalidHistory("it does not begin with the event WORKFLOW_EXECUTION_STARTED");
  }
  // The SDK would wait for ever for the rest of one that has a gap.
  const at = events.findIndex(({ eventId }, index) => Number(eventId) !== index + 1);
  if (at !== -1) {
    throw new InvalidHistory(
      `its event ${at + 1} is missing: only a whole history can be replayed`,
    );
  }
  return history;
};

/** The workflow id that a history says; undefined for one of an older server. */
export const workflowIdOf = ({ events }: History): string | undefined =>
  events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId || undefined;

/** Whether the run of a history has begun to run: before that its code has decided nothing. */
export const hasBegun = ({ events }: History): boolean =>
  (events ?? []).some((event) => event.workflowTaskStartedEventAttributes);

const parsed = (json: unknown): History => {
  if (typeof json !== "object" || json === null || !("events" in json)) {
    throw new InvalidHistory("it is no JSON object with the events of a run");
  }
  if (!Array.isArray(json.events)) throw new InvalidHistory("its `events` are no list");
  try {
    return parseEvents(json.events);
  } catch (error) {
    const cause = withoutValue(error);
    throw new InvalidHistory(`its events are not in Temporal's JSON (${cause.message})`, { cause });
  }
};

/** protobufjs writes `field: problem: value`, and a value may be a name or an account number. */
const withoutValue = (error: unknown): Error =>
  new Error((error instanceof Error ? error.message : "").replace(/^([^:]*: [^:"]*)[:"].*/s, "$1"));

type HistoryEvent = NonNullable<History["events"]>[number];

/** An event of a history, as far as a replay compares it. */
export interface RecordedEvent extends RecordedActivity {
  readonly id: number;
  /** The key of the command, where a marker has it. */
  readonly key?: string;
}

/** Types whose events come from commands that are compared. */
const COMPARED: ReadonlySet<string> = new Set([
  "ACTIVITY_TASK_SCHEDULED",
  MARKER,
  "TIMER_STARTED",
  "START_CHILD_WORKFLOW_EXECUTION_INITIATED",
  "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED",
  "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES",
  "WORKFLOW_PROPERTIES_MODIFIED",
  "WORKFLOW_EXECUTION_COMPLETED",
  "WORKFLOW_EXECUTION_FAILED",
  "WORKFLOW_EXECUTION_CANCELED",
  "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
]);

/** The SDK itself keeps the patches of a run under this search attribute. */
const KEPT_BY_SDK = "TemporalChangeVersion";

const LOCAL_ACTIVITY = "core_local_activity";
const PATCH = "core_patch";

/** What the SDK wrote into a marker; plain JSON, whatever codec the payloads of the project have. */
const markerData = (event: HistoryEvent, detail: string): Readonly<Record<string, unknown>> => {
  const data = event.markerRecordedEventAttributes?.details?.[detail]?.payloads?.[0]?.data;
  const value: unknown = data ? JSON.parse(Buffer.from(data).toString()) : undefined;
  return typeof value === "object" && value !== null ? { ...value } : {};
};

const markerOf = (event: HistoryEvent): Omit<RecordedEvent, "id" | "type"> => {
  switch (event.markerRecordedEventAttributes?.markerName) {
    case LOCAL_ACTIVITY: {
      const { activity_type, seq } = markerData(event, "data");
      return { name: String(activity_type), key: `local activity ${String(seq)}` };
    }
    case PATCH:
      return { name: String(markerData(event, "patch-data")["id"]) };
    default:
      return {};
  }
};

const nameOf = (event: HistoryEvent): string | null | undefined =>
  event.activityTaskScheduledEventAttributes?.activityType?.name ??
  event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name ??
  event.signalExternalWorkflowExecutionInitiatedEventAttributes?.signalName;

/** By what else than its name an event is known: the child, the activity and its step. */
const detailsOf = (event: HistoryEvent): Omit<RecordedActivity, "type"> => {
  const { activityId, input } = event.activityTaskScheduledEventAttributes ?? {};
  const { workflowId } = event.startChildWorkflowExecutionInitiatedEventAttributes ?? {};
  const step = stepOf(input?.payloads);
  return {
    ...(activityId && { activityId }),
    ...(step !== undefined && { step }),
    ...(workflowId && { workflowId }),
  };
};

/** Type of an event without its prefix. */
const typeOf = ({ eventType }: HistoryEvent): string =>
  (proto.temporal.api.enums.v1.EventType[eventType ?? 0] ?? "").replace(/^EVENT_TYPE_/, "");

const isOfSdk = (event: HistoryEvent): boolean =>
  KEPT_BY_SDK in
  (event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ?? {});

/** The events that came from commands which a replay compares, in their order. */
export const comparedEvents = ({ events }: History): ReadonlyArray<RecordedEvent> =>
  (events ?? []).flatMap((event) => {
    const type = typeOf(event);
    if (!COMPARED.has(type) || isOfSdk(event)) return [];
    const name = nameOf(event);
    return [
      {
        id: Number(event.eventId),
        type,
        ...(name && { name }),
        ...detailsOf(event),
        ...markerOf(event),
      },
    ];
  });
