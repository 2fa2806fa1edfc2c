import { Context } from "@temporalio/activity";
import { setTimeout as sleep } from "node:timers/promises";

/** What an activity takes that lasts for hours. */
export interface LongActivityOptions {
  /** Ends it when the worker is to drain, so that another worker takes it up at once. */
  readonly draining?: AbortSignal | undefined;
  /** Its time in milliseconds, of which it uses one turn at least; default 12 hours. */
  readonly turnMs?: number | undefined;
}

/** The work of an activity that lasts for hours. */
export interface LongWork<State> {
  /** What an attempt after this one continues from: each heartbeat reports it. */
  readonly state: State;
  /** Does what is due, and returns the milliseconds until it is called again. */
  readonly turn: () => Promise<number>;
}

const TWELVE_HOURS_MS = 12 * 3_600_000;

/** Each is billed; what is new of the state is said at once. */
const HEARTBEAT_EVERY_MS = 5_000;

/**
 * Runs the work of an activity until its time is over, or its worker drains: then the workflow hands on the state.
 *
 * @param begin gets the signal that ends the work, and what a killed worker has reported last.
 * @returns the state at the end.
 * @throws what a turn throws; the cancellation of the activity.
 */
export const runLong = async <State>(
  { draining, turnMs = TWELVE_HOURS_MS }: LongActivityOptions,
  begin: (signal: AbortSignal, reported: unknown) => LongWork<State>,
): Promise<State> => {
  const activity = Context.current();
  const { cancellationSignal } = activity;
  const signal = draining ? AbortSignal.any([cancellationSignal, draining]) : cancellationSignal;
  const until = Date.now() + turnMs;
  const work = begin(signal, activity.info.heartbeatDetails);
  const heart = setInterval(() => activity.heartbeat(work.state), HEARTBEAT_EVERY_MS);
  try {
    do {
      const waitMs = Math.min(await work.turn(), until - Date.now());
      await sleep(Math.max(0, waitMs), undefined, { signal });
    } while (Date.now() < until);
  } catch (error) {
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(heart);
  }
  return work.state;
};
