import { waitTypes } from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";

/** Shortest and longest time between two reads for something that is waited for, in milliseconds. */
export interface Pace {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** What the tracker reads for all: seldom enough for the service, often enough for people. */
export const TRACKER_PACE: Pace = { leastMs: 1_000, mostMs: 60_000 };

const HOUR_MS = 3_600_000;

/** What a run reads for itself, where no tracker completes its wait: each attempt is billed. */
export const OWN_PACE: Pace = { leastMs: 1_000, mostMs: 6 * HOUR_MS };

/**
 * Returns the milliseconds from one read to the next: a tenth of the time waited so far, within bounds.
 *
 * @param waitedMs time waited so far.
 */
export const intervalMs = (waitedMs: number, { leastMs, mostMs }: Pace): number =>
  Math.max(leastMs, Math.min(mostMs, waitedMs / 10));

/** The server ends an activity at once whose next attempt would begin after its end. */
const SHARE_OF_REST = 0.9;
const SHORTEST_MS = 100;

/**
 * Returns the failure after which Temporal tries again: no event in the history, and the reason in its Web UI.
 *
 * @param why a sentence for a person.
 * @param delayMs time to the next attempt, cut to what is left of the wait.
 */
export const notYet = (why: string, delayMs: number): ApplicationFailure => {
  const { currentAttemptScheduledTimestampMs, scheduleToCloseTimeoutMs, scheduledTimestampMs } =
    Context.current().info;
  // Both times are the server's: the worker's clock does not matter. Zero: there is no end.
  const leftMs =
    scheduleToCloseTimeoutMs > 0
      ? scheduledTimestampMs + scheduleToCloseTimeoutMs - currentAttemptScheduledTimestampMs
      : Number.POSITIVE_INFINITY;
  return ApplicationFailure.create({
    type: waitTypes.notYet,
    message: why,
    nextRetryDelay: Math.round(Math.max(SHORTEST_MS, Math.min(delayMs, leftMs * SHARE_OF_REST))),
    category: ApplicationFailureCategory.BENIGN,
  });
};

/**
 * Returns the failure of an attempt that reads for itself, until its next read is due.
 *
 * @param why a sentence for a person.
 */
export const pollAgain = (why: string): ApplicationFailure => {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return notYet(
    why,
    intervalMs(currentAttemptScheduledTimestampMs - scheduledTimestampMs, OWN_PACE),
  );
};
