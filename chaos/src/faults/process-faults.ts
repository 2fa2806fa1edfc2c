import type { Faults } from "./request-faults.ts";
import { pause } from "../delay.ts";
import { Random } from "../plan/random.ts";
import type { Supervised } from "../environment/supervised-process.ts";
import type { World } from "../environment/environment.ts";

/** Something that is done to a process while the runs run. */
interface Disturbance {
  /** When: the share of the work that is done, from 0 to 1. */
  readonly at: number;
  /** And so much later. */
  readonly afterMs: number;
  readonly signal: NodeJS.Signals;
  /** How long the process stays away. */
  readonly downMs: number;
}

/** What was done to the processes, counted. */
export interface DisturbanceCounts {
  workerKills: number;
  simulatorKills: number;
  serverRestarts: number;
  /** Of the restarts of the server, those by SIGKILL. */
  serverKills: number;
  workerFreezes: number;
  falseSignals: number;
}

/**
 * What a worker was about to send when it froze goes out when it goes on, pause or not: workers are
 * not frozen while sends are paused.
 */
export interface Stillness {
  /** Workers that are frozen now. */
  frozen: number;
  /** Whether sends are, or are about to be, paused. */
  isPausing: boolean;
}

/** Longer than the workflows' heartbeat timeout: what a worker was doing counts as lost. */
const LONG_OUTAGE_MS = 20_000;

/** How long a worker stands still: shorter, and longer, than that timeout. */
const FREEZES_MS = [1_000, 4_000, LONG_OUTAGE_MS] as const;

/** A shorter run has no time for a long outage. */
const RUNS_FOR_LONG_OUTAGE = 100;

/** Nothing is disturbed in the beginning, when nothing is under way, and at the end. */
const FROM = 0.05;
const TO = 0.85;

const plan = (
  random: Random,
  count: number,
  details: (index: number) => Pick<Disturbance, "signal" | "downMs">,
): readonly Disturbance[] =>
  // One in each of `count` equal parts of the work, at a random moment.
  Array.from({ length: count }, (_, index) => ({
    at: FROM + ((index + random.next()) * (TO - FROM)) / count,
    afterMs: random.int(0, 2_000),
    ...details(index),
  }));

/** What is done to the processes, by the seed: each kind at least once. */
const planDisturbances = (runs: number, seed: number) => {
  const workers = new Random(seed, "workers");
  const simulator = new Random(seed, "simulator");
  const server = new Random(seed, "server");
  const freezes = new Random(seed, "freezes");
  const times = (runsForOne: number) => Math.max(1, Math.round(runs / runsForOne));
  return {
    workers: plan(workers, times(20), () => ({
      signal: "SIGKILL",
      downMs: workers.int(0, 1_000),
    })),
    simulator: plan(simulator, times(50), () => ({
      signal: "SIGKILL",
      downMs: simulator.int(0, 3_000),
    })),
    freezes: plan(freezes, times(40), (index) => ({
      signal: "SIGSTOP",
      downMs:
        runs >= RUNS_FOR_LONG_OUTAGE ? freezes.pick(FREEZES_MS) : (FREEZES_MS[index % 2] ?? 0),
    })),
    server: plan(server, times(70), (index) => ({
      signal: index % 2 === 0 ? "SIGTERM" : "SIGKILL",
      downMs: index === 1 && runs >= RUNS_FOR_LONG_OUTAGE ? LONG_OUTAGE_MS : server.int(0, 3_000),
    })),
  };
};

/** Disturbs workers, simulator and server, independently of each other, until it is over. */
export const disturb = async (
  world: World,
  {
    counts,
    faults,
    over,
    runs,
    seed,
    stillness,
    workDone,
  }: {
    readonly counts: DisturbanceCounts;
    readonly faults: Faults;
    readonly over: AbortSignal;
    readonly runs: number;
    readonly seed: number;
    readonly stillness: Stillness;
    /** The share of the work that is done by now, from 0 to 1. */
    readonly workDone: () => number;
  },
): Promise<void> => {
  const planned = planDisturbances(runs, seed);
  const victims = new Random(seed, "victims");

  const carryOut = async (
    disturbances: readonly Disturbance[],
    one: (disturbance: Disturbance) => Promise<void>,
  ): Promise<void> => {
    for (const disturbance of disturbances) {
      while (workDone() < disturbance.at && !over.aborted) await pause(100, over);
      await pause(disturbance.afterMs, over);
      if (over.aborted) return;
      await one(disturbance);
    }
  };

  const killWorker = async (worker: Supervised, { downMs, signal }: Disturbance) => {
    // One that is not there yet has nothing to lose.
    await worker.whenReady(over);
    if (!over.aborted && (await worker.restart(signal, { downMs }))) counts.workerKills += 1;
  };

  await Promise.all([
    carryOut(planned.workers, async (disturbance) => {
      // Now and then nobody is left to go on.
      const killed = victims.chance(0.2) ? world.workers : [victims.pick(world.workers)];
      await Promise.all(killed.map((worker) => killWorker(worker, disturbance)));
    }),
    carryOut(planned.freezes, async ({ downMs }) => {
      while (stillness.isPausing && !over.aborted) await pause(100, over);
      stillness.frozen += 1;
      const standStill = () => pause(downMs, over);
      if (await victims.pick(world.workers).freeze(standStill)) counts.workerFreezes += 1;
      stillness.frozen -= 1;
    }),
    carryOut(planned.simulator, async ({ downMs, signal }) => {
      await world.simulator.whenReady(over);
      await faults.beforeKill();
      if (await world.simulator.restart(signal, { downMs })) counts.simulatorKills += 1;
    }),
    carryOut(planned.server, async ({ downMs, signal }) => {
      await world.server.whenReady(over);
      if (!(await world.server.restart(signal, { downMs }))) return;
      counts.serverRestarts += 1;
      if (signal === "SIGKILL") counts.serverKills += 1;
    }),
  ]);
};
