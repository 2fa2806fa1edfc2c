import { isRecord } from "@durable-payments/client/values";
import { type Failure, readFailure } from "@durable-payments/protocol/failures";
import { defaultFailureConverter, defaultPayloadConverter } from "@temporalio/common";
import type { temporal } from "@temporalio/proto";

/** An event of a history. */
export type Event = temporal.api.history.v1.IHistoryEvent;

/** Returns a failure that a history holds; null if there is none. */
export const failureOf = (
  failure: temporal.api.failure.v1.IFailure | null | undefined,
): Failure | null => {
  if (!failure) return null;
  try {
    return readFailure(defaultFailureConverter.failureToError(failure, defaultPayloadConverter));
  } catch {
    // A run may have written any bytes.
    return { type: "Unreadable", message: "Its failure cannot be decoded here." };
  }
};

/** The end of an action of a run. */
interface Ended {
  readonly outcome: "done" | "failed" | "timedOut" | "cancelled";
  /** Why it failed. */
  readonly message: string | null;
  /** Id of the event that began it. */
  readonly begunAs: string;
}

/** The prefix of the attributes of an end, its action, and its outcome. */
const END =
  /^(?:activityTask|childWorkflowExecution|timer)(Completed|Fired|Failed|Terminated|TimedOut|Canceled)EventAttributes$/;

const OUTCOMES: Readonly<Record<string, Ended["outcome"]>> = {
  Completed: "done",
  Fired: "done",
  Failed: "failed",
  Terminated: "failed",
  TimedOut: "timedOut",
  Canceled: "cancelled",
};

/** Reads the end of an action; undefined for any other event. */
export const endOf = (event: Event): Ended | undefined => {
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
