import type { PollSchedule } from "@durable-payments/activities";
import type { Duration, PollInterval } from "@durable-payments/protocol";
import { isCancellation, sleep } from "@temporalio/workflow";
import { activities, fallbackPollingActivities } from "./activities.ts";
import { durationMs } from "./durations.ts";
import { isOverdue } from "./failures.ts";

/** Of what the tracker signals: the run's own polls are for when it does not. */
export const FALLBACK_POLLING = { min: "1 hour", max: "6 hours" } as const satisfies PollInterval;

/** Of what nobody signals. */
export const SOLE_POLLING = { min: "1 second", max: "15 minutes" } as const satisfies PollInterval;

/** When a waiting activity polls: as asked for, or as it does by default. */
export const pollSchedule = (
  asked: PollInterval | undefined,
  byDefault: Required<PollInterval>,
  until: number,
): PollSchedule => ({
  minIntervalMs: durationMs(asked?.min ?? byDefault.min),
  maxIntervalMs: durationMs(asked?.max ?? byDefault.max),
  until,
});

/** When a wait that begins now ends, in milliseconds since 1970. */
export const endOf = (within: Duration): number => Date.now() + durationMs(within);

/** For how long a waiting activity may be late with its last poll, as where no worker takes it. */
const GRACE_MS = 60_000;

/**
 * Give the timeout that ends a waiting activity which has not ended by itself: after its own last poll, so that the
 * server's timeout is for the case that there was none.
 */
export const endsBy = (until: number): { readonly scheduleToCloseTimeout: number } => ({
  scheduleToCloseTimeout: Math.max(0, until - Date.now()) + GRACE_MS,
});

/**
 * Await a waiting activity. Where the server gave it up, the run takes the last reading itself, and no
 * sooner than the wait is over: the server gives up at once when the next attempt would be too late, as
 * it is after one that took long.
 */
export const orLastReading = async <A>(
  until: number,
  waiting: Promise<A>,
  read: () => Promise<A>,
): Promise<A> => {
  try {
    return await waiting;
  } catch (error) {
    if (!isOverdue(error)) throw error;
    if (Date.now() < until) await sleep(until - Date.now());
    return await read();
  }
};

/**
 * The activities that poll what the tracker signals: on the queue of fallback polling, unless the run was
 * given a poll interval.
 */
export const pollingActivities = (asked: PollInterval | undefined) =>
  asked === undefined ? fallbackPollingActivities : activities;

/**
 * Await, however long it takes, that the service can be reached: the retries of a read add nothing
 * to the history, where sending again and again would.
 */
export const awaitService = async (): Promise<void> => {
  try {
    await activities.ping.executeWithOptions({ summary: "Await the service" }, [{}]);
  } catch (error) {
    // Whatever else is wrong, the next request will show.
    if (isCancellation(error)) throw error;
  }
};
