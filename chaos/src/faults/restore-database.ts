import { copyFile, rm } from "node:fs/promises";
import type { ChaosOptions } from "../options.ts";
import type { Operator } from "../operator/operator.ts";
import { pause } from "../delay.ts";
import { Random } from "../plan/random.ts";
import type { World } from "../environment/environment.ts";

/** The share of the work after which the copy is taken, and put back. */
const COPY_AT = 0.3;
const PUT_BACK_AT = 0.6;

/** What a return of the database came to. */
export interface Restored {
  /** Runs that were started after the copy, so that Temporal had forgotten them. */
  readonly forgotten: number;
  /** Payouts, cardholders and cards that were made between the copy and its return. */
  readonly madeBetween: number;
}

/** The files of an SQLite database: its logs tell what is not in it yet, or not for good. */
const PARTS = ["", "-journal", "-wal", "-shm"] as const;

const copyParts = async (from: string, to: string): Promise<void> => {
  for (const part of PARTS) {
    await rm(`${to}${part}`, { force: true });
    await copyFile(`${from}${part}`, `${to}${part}`).catch((error: unknown) => {
      // There is no log where nothing has been written since the last checkpoint.
      if (part === "" || !isMissing(error)) throw error;
    });
  }
};

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT";

/**
 * Takes a copy of the server's database while runs are under way, lets them go on, and puts the copy
 * back, the workers being stopped meanwhile, as docs/disaster-recovery.md demands: Temporal has
 * forgotten what was done since. Half of the times sends are paused when the copy is taken, and half
 * of the times it is followed by `starter recover`.
 */
export const restoreInBetween = async (
  world: World,
  { seed }: ChaosOptions,
  {
    operator,
    over,
    startAgain,
    workDone,
  }: {
    readonly operator: Operator;
    readonly over: AbortSignal;
    /** Starts what was started and is not known any more. */
    readonly startAgain: () => Promise<number>;
    readonly workDone: () => number;
  },
): Promise<Restored> => {
  const random = new Random(seed, "restore");
  const [isPaused, recovers] = [random.chance(0.5), random.chance(0.5)];
  const copy = `${world.database}.copy`;
  const until = async (share: number) => {
    while (workDone() < share && !over.aborted) await pause(100, over);
  };

  await until(COPY_AT);
  if (isPaused) {
    await operator.pause(over);
    await pause(3_000, over);
  }
  const copiedAt = new Date();
  let isCopied = false;
  while (!isCopied && !over.aborted) {
    await world.server.whenReady(over);
    isCopied = await world.server.freeze(() => copyParts(world.database, copy));
  }
  if (isPaused) await operator.resume(over);

  await until(PUT_BACK_AT);
  if (over.aborted) return { forgotten: 0, madeBetween: 0 };
  const putBackAt = new Date();
  const state = { isPutBack: false };
  const whileDown = async () => {
    const killed = world.workers.map((worker) => worker.restart("SIGKILL", { downMs: 500 }));
    await Promise.all(killed);
    await copyParts(copy, world.database);
    state.isPutBack = true;
  };
  while (!state.isPutBack && !over.aborted) {
    await world.server.whenReady(over);
    await world.server.restart("SIGTERM", { downMs: 1_000, whileDown });
    await world.server.whenReady(over);
  }
  if (recovers) await operator.recover(copiedAt, over);
  const forgotten = await startAgain();
  // The copy knows the pause, and nothing of its end.
  if (isPaused || recovers) await operator.resume(over);
  const { cardholders, cards, payouts } = await world.control.ledgerWhenThere(over);
  const madeBetween = [...cardholders, ...cards, ...payouts].filter(
    ({ create_time }) =>
      create_time > copiedAt.toISOString() && create_time < putBackAt.toISOString(),
  ).length;
  return { forgotten, madeBetween };
};
