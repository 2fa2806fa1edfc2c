import type { Pace } from "@durable-payments/activities";
import { sleep } from "@temporalio/workflow";
import { activities, safetyNetActivities } from "./activities.ts";
import type { Duration } from "./duration.ts";
import { isOverdue } from "./failures.ts";
import { msToNumber } from "@temporalio/common/lib/time.js";

/**
 * Bounds of the time between two looks: a tenth of the time waited so far, within these. A run that
 * the tracker tells looks seldom by itself: from every hour to every six hours. What it must find
 * out alone it looks for from every second to every 15 minutes.
 */
export interface PollInterval {
  readonly min?: Duration;
  readonly max?: Duration;
}

/** Of what the tracker tells: the run's own looks are for when it does not. */
export const SAFETY_NET = { min: "1 hour", max: "6 hours" } as const satisfies PollInterval;

/** Of what nobody tells. */
export const ALONE = { min: "1 second", max: "15 minutes" } as const satisfies PollInterval;

/** The pace of a waiting activity: as asked for, or as it is by default. */
export const pace = (
  asked: PollInterval | undefined,
  byDefault: Required<PollInterval>,
  until: number,
): Pace => ({
  minIntervalMs: msToNumber(asked?.min ?? byDefault.min),
  maxIntervalMs: msToNumber(asked?.max ?? byDefault.max),
  until,
});

/** When a wait that begins now ends, in milliseconds since 1970. */
export const endOf = (within: Duration): number => Date.now() + msToNumber(within);

/** For how long a waiting activity may be late with its last look, as where no worker takes it. */
const GRACE_MS = 60_000;

/**
 * Ends a waiting activity that has not ended by itself: after its own last look, so that the server's
 * timeout is for the case that there was none.
 */
export const endsBy = (until: number): { readonly scheduleToCloseTimeout: number } => ({
  scheduleToCloseTimeout: Math.max(0, until - Date.now()) + GRACE_MS,
});

/**
 * What a waiting activity came to. Where the server gave it up, the run takes the last look itself, and
 * no sooner than the wait is over: the server gives up at once when the next attempt would be too late,
 * as it is after one that took long.
 */
export const orLastLook = <A>(
  until: number,
  waiting: Promise<A>,
  lastLook: () => Promise<A>,
): Promise<A> =>
  waiting.catch(async (error: unknown) => {
    if (!isOverdue(error)) throw error;
    if (Date.now() < until) await sleep(until - Date.now());
    return lastLook();
  });

/**
 * The activities for looks at what the tracker tells: on the queue of slow looks, unless the run was
 * asked to look at a pace of its own.
 */
export const lookingActivities = (asked: PollInterval | undefined) =>
  asked === undefined ? safetyNetActivities : activities;
