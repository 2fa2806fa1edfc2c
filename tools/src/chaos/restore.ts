import { copyFile, rm } from "node:fs/promises";
import type { ChaosOptions } from "./options.ts";
import type { Operator } from "./operator.ts";
import { pause } from "./pause.ts";
import { Random } from "./random.ts";
import type { World } from "./world.ts";

/** The share of the work after which the copy is taken, and put back. */
const COPY_AT = 0.3;
const PUT_BACK_AT = 0.6;

/** The files of an SQLite database: the log holds what is not in the database yet. */
const PARTS = ["", "-wal", "-shm"] as const;

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
 * back: Temporal has forgotten what was done since. Half of the times sends are paused when the copy
 * is taken, half of the times the workers do not live to see it, and half of the times it is followed
 * by `starter recover`.
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
    readonly startAgain: () => Promise<void>;
    readonly workDone: () => number;
  },
): Promise<void> => {
  const random = new Random(seed, "restore");
  const [isPaused, killsWorkers, recovers] = [
    random.chance(0.5),
    random.chance(0.5),
    random.chance(0.5),
  ];
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
  if (over.aborted) return;
  const state = { isPutBack: false };
  const whileDown = async () => {
    if (killsWorkers) {
      const killed = world.workers.map((worker) => worker.restart("SIGKILL", { downMs: 500 }));
      await Promise.all(killed);
    }
    await copyParts(copy, world.database);
    state.isPutBack = true;
  };
  while (!state.isPutBack && !over.aborted) {
    await world.server.whenReady(over);
    await world.server.restart("SIGTERM", { downMs: 1_000, whileDown });
    await world.server.whenReady(over);
  }
  if (recovers) await operator.recover(copiedAt, over);
  await startAgain();
  // The copy knows the pause, and nothing of its end.
  if (isPaused || recovers) await operator.resume(over);
};
