import { isRecord } from "@durable-payments/api-core/values";
import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";
import proto from "@temporalio/proto";
import { type Event, failureOf } from "./failure.ts";

const { EventType, HistoryEventFilterType } = proto.temporal.api.enums.v1;

/** One thing that a run did: an activity, a timer, a child, a message. Times: milliseconds since 1970. */
export interface TimelineItem {
  readonly kind: "activity" | "timer" | "child" | "signal" | "update" | "task";
  readonly name: string;
  /** What it is for, as its workflow describes it. */
  readonly summary: string | null;
  readonly at: number;
  readonly endedAt: number | null;
  readonly outcome: "open" | "done" | "failed" | "timedOut" | "cancelled";
  /** Why it failed. */
  readonly message: string | null;
  /** Of a timer: when it fires. */
  readonly until: number | null;
}

/** Most events that are read of one history, the latest ones. */
const MOST_EVENTS = 2_000;

/** The server warns of longer pages. */
const PAGE = 250;

/** Returns when an event happened, milliseconds since 1970. */
const timeOf = ({ eventTime }: Event): number =>
  Math.floor(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6);

/** A name of a run, as Temporal has it. */
interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

/** Reads the latest events of a run. */
export const readEvents = async (
  { options, workflowService }: Client,
  execution: Execution,
  most = MOST_EVENTS,
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
export const readCloseEvent = async (
  { options, workflowService }: Client,
  execution: Execution,
): Promise<Event | undefined> => {
  const { history } = await workflowService.getWorkflowExecutionHistory({
    namespace: options.namespace,
    execution,
    historyEventFilterType: HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return history?.events?.at(-1);
};

const summaryOf = ({ userMetadata }: Event): string | null => {
  try {
    const summary = userMetadata?.summary
      ? defaultPayloadConverter.fromPayload<unknown>(userMetadata.summary)
      : null;
    return typeof summary === "string" ? summary : null;
  } catch {
    // It decides nothing, and whoever executes a run writes any bytes.
    return null;
  }
};

type Begun = Pick<TimelineItem, "kind" | "name"> & { readonly id: string; readonly until?: number };

const idOf = ({ eventId }: Event): string => String(eventId);

/** Reads the begin of something that has an end of its own. */
const begunOf = (event: Event): Begun | undefined => {
  const {
    activityTaskScheduledEventAttributes: activity,
    startChildWorkflowExecutionInitiatedEventAttributes: child,
    timerStartedEventAttributes: timer,
  } = event;
  if (activity)
    return { kind: "activity", name: activity.activityType?.name ?? "", id: idOf(event) };
  if (timer) {
    const { nanos, seconds } = timer.startToFireTimeout ?? {};
    const lasts = Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6;
    return { kind: "timer", name: "sleep", id: idOf(event), until: timeOf(event) + lasts };
  }
  if (child) return { kind: "child", name: child.workflowId ?? "", id: idOf(event) };
  return undefined;
};

/** What happens at once. */
const messageOf = (event: Event): Pick<TimelineItem, "kind" | "name"> | undefined => {
  const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
  if (signal) return { kind: "signal", name: signal };
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
  return update ? { kind: "update", name: update } : undefined;
};

type Ended = Pick<TimelineItem, "outcome" | "message"> & { readonly begunAs: string };

/** How the names of the attributes of an end begin, whose it is, and what they say. */
const END =
  /^(?:activityTask|childWorkflowExecution|timer)(Completed|Fired|Failed|Terminated|TimedOut|Canceled)EventAttributes$/;

const OUTCOMES: Readonly<Record<string, TimelineItem["outcome"]>> = {
  Completed: "done",
  Fired: "done",
  Failed: "failed",
  Terminated: "failed",
  TimedOut: "timedOut",
  Canceled: "cancelled",
};

const endOf = (event: Event): Ended | undefined => {
  for (const [name, attributes] of Object.entries(event)) {
    const [, end = ""] = END.exec(name) ?? [];
    const outcome = OUTCOMES[end];
    if (outcome === undefined || !isRecord(attributes)) continue;
    const { failure, initiatedEventId, scheduledEventId, startedEventId } = attributes;
    const message = failureOf(failure as Parameters<typeof failureOf>[0])?.message ?? null;
    return {
      begunAs: String(scheduledEventId ?? initiatedEventId ?? startedEventId),
      outcome,
      message,
    };
  }
  return undefined;
};

/** Reads what a run did from its events. It is for people to look at: what became of a write, the ledger says. */
export const timelineOf = (events: ReadonlyArray<Event>): ReadonlyArray<TimelineItem> => {
  const items = new Map<string, TimelineItem>();
  let failing: TimelineItem | undefined;
  for (const event of events) {
    const at = timeOf(event);
    const begun = begunOf(event);
    const open = { summary: summaryOf(event), at, endedAt: null, message: null, until: null };
    if (begun !== undefined) {
      const { id, kind, name, until = null } = begun;
      items.set(id, { ...open, kind, name, outcome: "open", until });
    }
    const message = messageOf(event);
    if (message !== undefined) {
      items.set(idOf(event), { ...open, ...message, endedAt: at, outcome: "done" });
    }
    const end = endOf(event);
    const ended = end && items.get(end.begunAs);
    if (end !== undefined && ended !== undefined) {
      const { begunAs, ...outcome } = end;
      items.set(begunAs, { ...ended, ...outcome, endedAt: at });
    }
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed) {
      const why = failureOf(failed.failure)?.message ?? null;
      failing ??= { ...open, kind: "task", name: "workflow code", outcome: "failed", message: why };
    } else if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
      failing = undefined;
  }
  return [...items.values(), ...(failing === undefined ? [] : [failing])];
};
