import { isPaymentsError } from "@durable-payments/client/effect";
import { temporalReason } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { setTimeout as sleep } from "node:timers/promises";

/** Options of an activity that lasts for hours. */
export interface LongActivityOptions {
  /** Aborts when the worker drains, so that another worker takes it up at once. */
  readonly draining?: AbortSignal | undefined;
  /** Its time in milliseconds; default 12 hours. */
  readonly turnMs?: number | undefined;
}

/** A part of a work. If it fails, the others continue, and it waits longer after each failure in a row. */
export interface LongPart {
  readonly name: string;
  /** Does what is due, and returns the milliseconds until it is called again. */
  readonly run: () => Promise<number>;
  /** Gets the reason of a failure. */
  readonly failed: (why: string) => void;
}

/** The work of an activity that lasts for hours. */
export interface LongWork<State> {
  readonly parts: ReadonlyArray<LongPart>;
  /** The state from which the next attempt continues: each heartbeat reports it. */
  readonly state: () => State;
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
 * Runs the work of an activity until its time is over or its worker drains, and returns the state for the workflow's next
 * run. Each part runs once at least. Throws the cancellation of the activity.
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
  const { parts, state } = begin(signal, activity.info.heartbeatDetails);
  const loop = async ({ failed, name, run }: LongPart): Promise<void> => {
    let failures = 0;
    const runOnce = async (): Promise<number> => {
      try {
        const nextMs = await run();
        failures = 0;
        return nextMs;
      } catch (error) {
        if (signal.aborted) throw error;
        failures += 1;
        const againMs = backOffMs(error, failures);
        const why = temporalReason(error).replace(/\.$/, "");
        activity.log.warn(`${name}: ${why}. It tries again in ${againMs} ms.`);
        failed(why);
        return againMs;
      }
    };
    do {
      const waitMs = Math.min(await runOnce(), until - performance.now());
      await sleep(Math.max(0, waitMs), undefined, { signal });
    } while (performance.now() < until);
  };
  const heart = setInterval(() => activity.heartbeat(state()), HEARTBEAT_EVERY_MS);
  try {
    await Promise.all(parts.map(loop));
  } catch (error) {
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(heart);
  }
  return state();
};
