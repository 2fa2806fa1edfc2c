import { readPayload } from "@durable-payments/activities/readable-payloads";
import { messageOf } from "@durable-payments/api-core/values";
import { PAYMENT_STAGE } from "@durable-payments/protocol";
import { ValueError } from "@temporalio/common";
import type { History } from "@temporalio/common/lib/proto-utils.js";
import type { temporal } from "@temporalio/proto";
import { Refused } from "../errors.ts";

/** An event of a history. */
export type Event = NonNullable<History["events"]>[number];

/** The number of an event, as Temporal counts it. */
export type EventId = NonNullable<Event["eventId"]>;

/** When an event happened, milliseconds since 1970. */
export const millisecondsOf = ({ eventTime }: Event): number =>
  Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;

/** When an event happened, ISO 8601. */
export const timeOf = (event: Event): string => new Date(millisecondsOf(event)).toISOString();

/** What a history holds does not decode: it is of another encoding, or no JSON. Another worker has written it. */
export class Unreadable extends Refused {
  readonly why: string;

  constructor(why: string) {
    super({ message: `Its history cannot be read: ${why}.` });
    this.why = why;
  }
}

/** Decode something of a history: whoever starts a run, or executes it, writes any bytes. */
export const decoding = <A>(decode: () => A): A => {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ValueError || error instanceof SyntaxError)) throw error;
    throw new Unreadable(messageOf(error));
  }
};

/** Decode a payload of a history. */
export const decoded = (payload: temporal.api.common.v1.IPayload | null | undefined): unknown =>
  payload ? decoding(() => readPayload(payload)) : undefined;

/** Decode a payload that decides nothing; undefined where it cannot be: whoever starts a run writes any bytes. */
export const decodedIfReadable = (
  payload: temporal.api.common.v1.IPayload | null | undefined,
): unknown => {
  try {
    return decoded(payload);
  } catch {
    return undefined;
  }
};

/** What an activity or a timer is for, as its workflow describes it. */
export const summaryOf = ({ userMetadata }: Event): string | undefined => {
  const summary = decodedIfReadable(userMetadata?.summary);
  return typeof summary === "string" ? summary : undefined;
};

/** What an event writes into a search attribute, if it writes that one. */
export const searchAttributeOf = (event: Event, name: string): unknown => {
  const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes ?? {};
  return decoded(searchAttributes?.indexedFields?.[name]);
};

/** What a run is started with as a search attribute, or writes into it; null where it takes it away. */
export const writtenOf = (event: Event, name: string): unknown => {
  const fields =
    event.upsertWorkflowSearchAttributesEventAttributes?.searchAttributes?.indexedFields ??
    event.workflowExecutionStartedEventAttributes?.searchAttributes?.indexedFields;
  const written = fields?.[name];
  return written && (decoded(written) ?? null);
};

/** The stage that an event writes, if it writes one. */
export const stageOf = (event: Event): string | undefined => {
  const stage = searchAttributeOf(event, PAYMENT_STAGE.name);
  return typeof stage === "string" ? stage : undefined;
};

/** The workflow task whose command an event records. */
export const taskOf = (event: Event): EventId | undefined =>
  event.upsertWorkflowSearchAttributesEventAttributes?.workflowTaskCompletedEventId ??
  event.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ??
  event.timerStartedEventAttributes?.workflowTaskCompletedEventId ??
  event.markerRecordedEventAttributes?.workflowTaskCompletedEventId ??
  event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowTaskCompletedEventId ??
  undefined;

/** How an activity ended. */
export interface ActivityEnd {
  /** Event at which it was scheduled. */
  readonly scheduledBy: string;
  readonly outcome: "done" | "failed" | "timedOut" | "cancelled";
  readonly result: temporal.api.common.v1.IPayload | undefined;
  readonly failure: temporal.api.failure.v1.IFailure | undefined;
}

/** Read the end of an activity; undefined where the event is no such end. */
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

/** What a local activity answered, if the event is of one of this type. */
export const localAnswerOf = (event: Event, type: string): unknown => {
  const details = event.markerRecordedEventAttributes?.details;
  const about = decoded(details?.["data"]?.payloads?.[0]);
  return typeof about === "object" && about !== null && "activity_type" in about
    ? about.activity_type === type
      ? decoded(details?.["result"]?.payloads?.[0])
      : undefined
    : undefined;
};
