import { Context } from "@temporalio/activity";
import { notYet } from "./failures.ts";

/** How often a waiting activity polls, and for how long. */
export interface PollSchedule {
  /** Milliseconds between the first polls; later a tenth of the time waited so far. */
  readonly minIntervalMs: number;
  /** Milliseconds between polls after a long wait. */
  readonly maxIntervalMs: number;
  /** When the wait ends, in milliseconds since 1970 by Temporal's clock: a last poll is made then. */
  readonly until: number;
}

/**
 * Milliseconds from this attempt to the end of the wait. Both times are the server's, so that the
 * worker's clock does not matter.
 */
export const leftMs = ({ until }: PollSchedule): number =>
  until - Context.current().info.currentAttemptScheduledTimestampMs;

/** Milliseconds to the next poll: an attempt falls on the end of the wait. */
const nextPollMs = (schedule: PollSchedule): number => {
  const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  const { maxIntervalMs, minIntervalMs } = schedule;
  const waited = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  const interval = Math.max(minIntervalMs, Math.min(maxIntervalMs, waited / 10));
  return Math.round(Math.min(interval, leftMs(schedule)));
};

/**
 * Fail the attempt so that Temporal makes the next poll when it is due.
 *
 * @returns what was seen, where the wait is over.
 * @throws ApplicationFailure whose `nextRetryDelay` is the time to the next poll
 */
export const pollAgain = <A>(seen: A, schedule: PollSchedule, message: string): A => {
  if (leftMs(schedule) <= 0) return seen;
  throw notYet(message, nextPollMs(schedule));
};
