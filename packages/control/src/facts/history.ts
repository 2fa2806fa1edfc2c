/*
 * Reads histories: failures, ends by a person, and the actions of a run.
 *
 * Anyone with access to Temporal may write into a history. So nothing here says whether a write was made: only the
 * ledger does. A person's end is recognized by a text that this project writes, because a plain cancellation names
 * nobody.
 */
import { endOf, type Event, failureOf } from "@durable-payments/activities";
import type { Actor } from "@durable-payments/ledger";
import { CANCELLED, failureTypes } from "@durable-payments/protocol/calls";
import type { Failure } from "@durable-payments/protocol/failures";
import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import proto, { type temporal } from "@temporalio/proto";
import type { RunOfId } from "./connection/temporal.ts";
import { hasCode } from "./connection/temporal-errors.ts";

export type { Event } from "@durable-payments/activities";
export type { Failure } from "@durable-payments/protocol/failures";
export { failureOf } from "@durable-payments/activities";

/** Decodes the first payload; undefined if there is none, or nobody can decode it: anyone may have written any bytes. */
export const firstOf = (payloads: temporal.api.common.v1.IPayloads | null | undefined) => {
  const [first] = payloads?.payloads ?? [];
  try {
    return first && defaultPayloadConverter.fromPayload<unknown>(first);
  } catch {
    return undefined;
  }
};

const ENDED = "Ended by a person's decision: ";

/** Records in Temporal's history that a person ended a run, so that `recover` finds an end that the ledger has lost. */
export const endText = ({ by, reason }: Actor): string => `${ENDED}${by}: ${reason ?? ""}`;

/** Reads the person and the reason of an {@link endText}; undefined for any other text. */
export const readEndText = (text: string): Pick<Actor, "by" | "reason"> | undefined => {
  if (!text.startsWith(ENDED)) return undefined;
  const [by = "", ...reason] = text.slice(ENDED.length).split(": ");
  return { by, reason: reason.join(": ") };
};

/** Reads the {@link endText} by which a run was asked to end: a cancellation by Temporal's own tools does not count as a person's end. */
export const endRequestOf = (events: ReadonlyArray<Event>) =>
  events
    .map(({ workflowExecutionCancelRequestedEventAttributes: of }) => readEndText(of?.cause ?? ""))
    .find((end) => end !== undefined);

/** Reads from its last event why a run ended; null if the event has no reason. */
export const closeFailureOf = (close: Event | undefined): Failure | null => {
  const terminated = close?.workflowExecutionTerminatedEventAttributes;
  if (terminated) {
    const reason = terminated.reason || "no reason";
    if (reason.startsWith(ENDED)) return { type: failureTypes.ended, message: reason };
    const by = terminated.identity ? ` by ${terminated.identity}` : "";
    return { type: "Terminated", message: `Terminated${by}: ${reason}` };
  }
  if (close?.workflowExecutionTimedOutEventAttributes)
    return { type: "TimedOut", message: "The run reached its timeout." };
  if (close?.workflowExecutionCanceledEventAttributes)
    return { type: CANCELLED, message: "The run was cancelled." };
  return failureOf(close?.workflowExecutionFailedEventAttributes?.failure);
};

/** An action of a run: an activity, a timer, a child, a message. Times are milliseconds since 1970. */
export interface TimelineItem {
  readonly kind: "activity" | "timer" | "child" | "signal" | "update" | "task";
  readonly name: string;
  /** Its purpose, as its workflow describes it. */
  readonly summary: string | null;
  readonly at: number;
  readonly endedAt: number | null;
  readonly outcome: "open" | "done" | "failed" | "timedOut" | "cancelled";
  /** Why it failed. */
  readonly message: string | null;
  /** For a timer: the time at which it fires. */
  readonly until: number | null;
}

/** The server warns of longer pages. */
const PAGE = 250;

const millisecondsOf = (time: Event["eventTime"]): number =>
  Math.floor(Number(time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6);

/** Returns when an event happened, milliseconds since 1970. */
export const timeOf = ({ eventTime }: Event): number => millisecondsOf(eventTime);

/** Reads the latest events of a run. Temporal's time-skipping test server can only read a history from its start. */
export const readEvents = (
  client: Client,
  execution: RunOfId,
  most: number,
): Promise<ReadonlyArray<Event>> =>
  readBackwards(client, execution, most).catch(async (error: unknown) => {
    if (!hasCode(error, "unknownThere")) throw error;
    const { runId, workflowId } = execution;
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return (events ?? []).slice(-most);
  });

const readBackwards = async (
  { options, workflowService }: Client,
  execution: RunOfId,
  most: number,
): Promise<ReadonlyArray<Event>> => {
  const events: Array<Event> = [];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.getWorkflowExecutionHistoryReverse({
      namespace: options.namespace,
      execution,
      maximumPageSize: Math.min(PAGE, most - events.length),
      ...(nextPageToken && { nextPageToken }),
    });
    events.push(...(page.history?.events ?? []));
    nextPageToken = page.nextPageToken;
  } while (nextPageToken?.length && events.length < most);
  return events.toReversed();
};

/** Reads the last event of a run that has ended. */
export const readCloseEvent = async ({ options, workflowService }: Client, execution: RunOfId) => {
  const { history } = await workflowService.getWorkflowExecutionHistory({
    namespace: options.namespace,
    execution,
    historyEventFilterType:
      proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return history?.events?.at(-1);
};

const summaryOf = ({ userMetadata }: Event): string | null => {
  const { summary } = userMetadata ?? {};
  const text = summary && firstOf({ payloads: [summary] });
  return typeof text === "string" ? text : null;
};

/** An action that begins; a message has no duration. */
interface Begun extends Pick<TimelineItem, "kind" | "name"> {
  readonly until?: number;
  readonly isMessage?: true;
}

const begunOf = (event: Event): Begun | undefined => {
  const {
    activityTaskScheduledEventAttributes: activity,
    startChildWorkflowExecutionInitiatedEventAttributes: child,
    timerStartedEventAttributes: timer,
    workflowExecutionSignaledEventAttributes: signal,
    workflowExecutionUpdateAcceptedEventAttributes: update,
  } = event;
  if (activity) return { kind: "activity", name: activity.activityType?.name ?? "" };
  if (timer) {
    const until = timeOf(event) + millisecondsOf(timer.startToFireTimeout);
    return { kind: "timer", name: "sleep", until };
  }
  if (child) return { kind: "child", name: child.workflowId ?? "" };
  if (signal?.signalName) return { kind: "signal", name: signal.signalName, isMessage: true };
  const name = update?.acceptedRequest?.input?.name;
  return name ? { kind: "update", name, isMessage: true } : undefined;
};

const TASK_COMPLETED = proto.temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;

/** Reads the actions of a run from its events, for people to see. Only the ledger knows the outcome of a write. */
export const timelineOf = (events: ReadonlyArray<Event>): ReadonlyArray<TimelineItem> => {
  const ends = new Map(
    events.flatMap((event) => {
      const { begunAs, ...end } = endOf(event) ?? {};
      return begunAs === undefined ? [] : [[begunAs, { ...end, endedAt: timeOf(event) }] as const];
    }),
  );
  const items = events.flatMap((event): ReadonlyArray<TimelineItem> => {
    const begun = begunOf(event);
    if (begun === undefined) return [];
    const { isMessage, kind, name, until = null } = begun;
    const at = timeOf(event);
    const none = { outcome: isMessage ? "done" : "open", endedAt: isMessage ? at : null } as const;
    const end = { ...none, message: null, ...ends.get(String(event.eventId)) };
    return [{ kind, name, summary: summaryOf(event), at, until, ...end }];
  });
  const completed = events.findLastIndex(({ eventType }) => eventType === TASK_COMPLETED);
  const failed = events
    .slice(completed + 1)
    .find((event) => event.workflowTaskFailedEventAttributes);
  if (failed === undefined) return items;
  const why = failureOf(failed.workflowTaskFailedEventAttributes?.failure)?.message ?? null;
  const task = { kind: "task", name: "workflow code", outcome: "failed", message: why } as const;
  const open = { summary: null, at: timeOf(failed), endedAt: null, until: null };
  return [...items, { ...task, ...open }];
};
