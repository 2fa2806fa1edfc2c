import { isPaymentsError } from "@durable-payments/client/effect";
import { temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { setTimeout as sleep } from "node:timers/promises";

/** Options of an activity that lasts for hours. */
export interface LongActivityOptions {
  /** Aborts when the worker drains, so that another worker takes it up at once. */
  readonly draining?: AbortSignal | undefined;
  /** Its time in milliseconds, of which it uses one turn at least; default 12 hours. */
  readonly turnMs?: number | undefined;
}

/** The work of an activity that lasts for hours. */
export interface LongWork<State> {
  /** The state from which the next attempt continues: each heartbeat reports it. */
  readonly state: () => State;
  /** Adds the reason of the last failed turn to the state. */
  readonly failed: (why: string) => void;
  /** Does what is due, and returns the milliseconds until it is called again. */
  readonly turn: () => Promise<number>;
}

const TWELVE_HOURS_MS = 12 * 3_600_000;

/** Interval of heartbeats, each of which is billed; a changed state is reported at once. */
const HEARTBEAT_EVERY_MS = 5_000;

/** Longest pause after failures. */
const LONGEST_BACKOFF_MS = 60_000;

/** The wait after some failures in a row, in milliseconds: it grows, and is not shorter than the service asks. */
const backOffMs = (error: unknown, failures: number): number =>
  Math.max(
    isPaymentsError(error) && error._tag === "RateLimited" ? error.retryAfter : 0,
    Math.min(LONGEST_BACKOFF_MS, 500 * 2 ** failures),
  );

/**
 * Makes a work that waits longer after each failure in a row. Throws only what `signal` has aborted.
 *
 * @param work returns the milliseconds until it is called again.
 * @param failed gets the reason of a failure, and the wait after it.
 */
export const withBackOff = (
  work: () => Promise<number>,
  failed: (why: string, waitMs: number) => void,
  signal: AbortSignal,
): (() => Promise<number>) => {
  let failures = 0;
  return async () => {
    try {
      const nextMs = await work();
      failures = 0;
      return nextMs;
    } catch (error) {
      if (signal.aborted) throw error;
      failures += 1;
      const waitMs = backOffMs(error, failures);
      failed(temporalReason(error), waitMs);
      return waitMs;
    }
  };
};

/**
 * Runs the work of an activity until its time is over or its worker drains, and returns the state for the workflow's next
 * run. A failed turn is repeated after growing waits. Throws the cancellation of the activity.
 *
 * @param begin gets the signal that ends the work, and the last heartbeat of a killed worker.
 */
export const runLong = async <State>(
  { draining, turnMs = TWELVE_HOURS_MS }: LongActivityOptions,
  begin: (signal: AbortSignal, reported: unknown) => LongWork<State>,
): Promise<State> => {
  const activity = Context.current();
  const { cancellationSignal } = activity;
  const signal = draining ? AbortSignal.any([cancellationSignal, draining]) : cancellationSignal;
  // The clock of the host may be set.
  const until = performance.now() + turnMs;
  const work = begin(signal, activity.info.heartbeatDetails);
  const failed = (why: string, waitMs: number) => {
    activity.log.warn(`Tries again in ${waitMs} ms: ${why}`);
    work.failed(why);
  };
  const turn = withBackOff(() => work.turn(), failed, signal);
  const heart = setInterval(() => activity.heartbeat(work.state()), HEARTBEAT_EVERY_MS);
  try {
    do {
      const waitMs = Math.min(await turn(), until - performance.now());
      await sleep(Math.max(0, waitMs), undefined, { signal });
    } while (performance.now() < until);
  } catch (error) {
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(heart);
  }
  return work.state();
};
