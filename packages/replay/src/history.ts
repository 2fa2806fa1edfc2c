import type { History } from "@temporalio/common/lib/proto-utils.js";
import proto from "@temporalio/proto";
import { createRequire } from "node:module";
import { MARKER, type RecordedActivity, stepOf } from "./record.ts";

export type { History } from "@temporalio/common/lib/proto-utils.js";

/** A run whose history is replayed. */
export interface RunToReplay {
  /** Its own: the ledger and the ids of children go by it. */
  readonly workflowId: string;
  readonly history: History;
}

/**
 * A file is not a history, or not that of the workflow id that it is given: replayed so, it would seem to differ. The
 * message says why, and repeats nothing of it.
 */
export class InvalidHistory extends Error {
  override readonly name = "InvalidHistory";
}

/**
 * protobufjs knows only the types of its own copy, and npm installs several copies of it beside
 * each other: then `historyFromJSON` of `@temporalio/common` fails with "type must be a Type". This
 * is the copy that `@temporalio/proto` made its types with. A `require` is typed as `any`.
 */
const { fromJson } = createRequire(import.meta.resolve("@temporalio/proto"))(
  "protobufjs/ext/protojson",
) as {
  readonly fromJson: (
    type: unknown,
    json: unknown,
    options: { readonly ignoreUnknownFields: boolean },
  ) => History;
};

const historyType = proto.temporal.api.history.v1.History;

/** protobufjs writes `field: problem: value`, and a value may be a name or an account number. */
const withoutValue = (error: unknown): Error =>
  new Error((error instanceof Error ? error.message : "").replace(/^([^:]*: [^:"]*)[:"].*/s, "$1"));

const parsed = (json: unknown): History => {
  if (typeof json !== "object" || json === null || !("events" in json)) {
    throw new InvalidHistory("it is not a JSON object with the events of a run");
  }
  if (!Array.isArray(json.events)) throw new InvalidHistory("its `events` are not a list");
  try {
    // Fields that this version of the SDK does not know are left out.
    return fromJson(historyType, { events: json.events }, { ignoreUnknownFields: true });
  } catch (error) {
    const cause = withoutValue(error);
    throw new InvalidHistory(`its events are not in Temporal's JSON (${cause.message})`, { cause });
  }
};

/** Reads a history as Temporal's command line and its Web UI write it. @throws InvalidHistory */
export const readHistory = (json: unknown): History => {
  const history = parsed(json);
  const events = history.events ?? [];
  if (!events[0]?.workflowExecutionStartedEventAttributes) {
    throw new InvalidHistory("it does not begin with the event WORKFLOW_EXECUTION_STARTED");
  }
  // The SDK would wait forever for the rest of a history with a gap.
  const at = events.findIndex(({ eventId }, index) => Number(eventId) !== index + 1);
  if (at !== -1) {
    throw new InvalidHistory(
      `its event ${at + 1} is missing: only a complete history can be replayed`,
    );
  }
  return history;
};

/** Returns the workflow id that a history says; undefined for one of an older server. */
const workflowIdOf = ({ events }: History): string | undefined =>
  events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId || undefined;

/** Expects that a run has the workflow id that its history says, if it says one. @throws InvalidHistory */
export const expectOwnId = ({ history, workflowId }: RunToReplay): void => {
  const named = workflowIdOf(history);
  if (named !== undefined && named !== workflowId) {
    throw new InvalidHistory(`it is the history of the workflow id ${named}, not of ${workflowId}`);
  }
};

/**
 * Reads the run whose history Temporal's command line or its Web UI wrote.
 *
 * @param json content of the file, parsed.
 * @param workflowId for histories of older servers, which do not say it.
 * @returns what `replayHistories` takes.
 * @throws InvalidHistory if it is not a history, or not a whole one.
 * @throws InvalidHistory if its workflow id is not known, or is another one.
 */
export const readRun = (json: unknown, workflowId?: string): RunToReplay => {
  const history = readHistory(json);
  const id = workflowId ?? workflowIdOf(history);
  if (id === undefined) {
    throw new InvalidHistory(
      "its history does not contain its workflow id, from which the ids of children are derived: pass the workflow id",
    );
  }
  const run = { workflowId: id, history };
  expectOwnId(run);
  return run;
};

/** Whether the run of a history has begun to run: before that its code has decided nothing. */
export const hasBegun = ({ events }: History): boolean =>
  (events ?? []).some((event) => event.workflowTaskStartedEventAttributes);

type HistoryEvent = NonNullable<History["events"]>[number];

/** An event of a history, as far as a replay compares it. */
export interface RecordedEvent extends RecordedActivity {
  readonly id: number;
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

const PATCH = "core_patch";

/** Returns the id of a patch. The SDK writes it as plain JSON, whatever codec the payloads of the project have. */
const patchOf = ({ markerRecordedEventAttributes: marker }: HistoryEvent): string | undefined => {
  const data = marker?.details?.["patch-data"]?.payloads?.[0]?.data;
  if (!data) return undefined;
  const { id } = JSON.parse(Buffer.from(data).toString()) as { readonly id?: unknown };
  return String(id);
};

const isCompared = (event: HistoryEvent, type: string): boolean => {
  const upserted = event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes;
  const marker = event.markerRecordedEventAttributes?.markerName ?? PATCH;
  return (
    COMPARED.has(type) && marker === PATCH && !(KEPT_BY_SDK in (upserted?.indexedFields ?? {}))
  );
};

/** Returns the events that came from commands which a replay compares, in their order. */
export const comparedEvents = ({ events }: History): ReadonlyArray<RecordedEvent> =>
  (events ?? []).flatMap((event) => {
    const type = (proto.temporal.api.enums.v1.EventType[event.eventType ?? 0] ?? "").replace(
      /^EVENT_TYPE_/,
      "",
    );
    if (!isCompared(event, type)) return [];
    const { activityId, activityType, input } = event.activityTaskScheduledEventAttributes ?? {};
    const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const signal = event.signalExternalWorkflowExecutionInitiatedEventAttributes;
    const name =
      activityType?.name ?? child?.workflowType?.name ?? signal?.signalName ?? patchOf(event);
    const step = stepOf(input?.payloads);
    return [
      {
        id: Number(event.eventId),
        type,
        ...(name && { name }),
        ...(activityId && { activityId }),
        ...(step !== undefined && { step }),
        ...(child?.workflowId && { workflowId: child.workflowId }),
      },
    ];
  });
