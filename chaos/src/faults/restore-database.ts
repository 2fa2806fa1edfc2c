import type { ChaosOptions } from "../options.ts";
import type { Operator } from "../operator/operator.ts";
import { delay } from "../delay.ts";
import { Random } from "../plan/random.ts";
import type { Environment } from "../environment/environment.ts";

/** The share of the work after which the copy is taken, and put back. */
const COPY_AT = 0.3;
const PUT_BACK_AT = 0.6;

/** What Temporal has forgotten by the return of the database. */
export interface RestoreResult {
  /** Runs that were started after the copy, so that Temporal had forgotten them. */
  readonly forgotten: number;
  /** Payouts, cardholders and cards that were made between the copy and its return. */
  readonly madeBetween: number;
}

/**
 * Copy the server's database while runs are under way, wait, and put the copy back, the workers being
 * stopped meanwhile, as docs/disaster-recovery.md demands: Temporal has forgotten what was done since. In
 * half of the chaos runs sends are paused when the copy is taken, and in half of them the return is
 * followed by `starter recover`.
 */
export const restoreDatabase = async (
  environment: Environment,
  { seed }: ChaosOptions,
  {
    operator,
    signal,
    startForgotten,
    workDone,
  }: {
    readonly operator: Operator;
    readonly signal: AbortSignal;
    /** Start what was started and is not known any more. */
    readonly startForgotten: () => Promise<number>;
    readonly workDone: () => number;
  },
): Promise<RestoreResult> => {
  const random = new Random(seed, "restore");
  const [isPaused, recovers] = [random.chance(0.5), random.chance(0.5)];
  const until = async (share: number) => {
    while (workDone() < share && !signal.aborted) await delay(100, signal);
  };

  await until(COPY_AT);
  if (isPaused) {
    await operator.pauseSends(signal);
    await delay(3_000, signal);
  }
  const state = { isCopied: false, isPutBack: false };
  let copiedAt = new Date();
  while (!state.isCopied && !signal.aborted) {
    await environment.server.whenReady(signal);
    copiedAt = new Date();
    state.isCopied = await environment.server.copyDatabase();
    if (!state.isCopied) await delay(50, signal);
  }
  if (isPaused) await operator.resumeSends(signal);

  await until(PUT_BACK_AT);
  if (signal.aborted) return { forgotten: 0, madeBetween: 0 };
  const putBackAt = new Date();
  const whileDown = async () => {
    const killed = environment.workers.map((worker) => worker.restart("SIGKILL", { downMs: 500 }));
    await Promise.all(killed);
    await environment.server.putBackDatabase();
    state.isPutBack = true;
  };
  while (!state.isPutBack && !signal.aborted) {
    await environment.server.whenReady(signal);
    await environment.server.restart("SIGTERM", { downMs: 1_000, whileDown });
    await environment.server.whenReady(signal);
  }
  if (recovers) await operator.recover(copiedAt, signal);
  const forgotten = await startForgotten();
  // The copy knows the pause, and nothing of its end.
  if (isPaused || recovers) await operator.resumeSends(signal);
  const { cardholders, cards, payouts } = await environment.control.ledgerOnceAvailable(signal);
  const madeBetween = [...cardholders, ...cards, ...payouts].filter(
    ({ create_time }) =>
      create_time > copiedAt.toISOString() && create_time < putBackAt.toISOString(),
  ).length;
  return { forgotten, madeBetween };
};
