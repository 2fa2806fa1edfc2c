import { delay, until } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";
import type { TimeSpan } from "../evidence/evidence.ts";
import { Random } from "../plan/random.ts";
import type { RequestFaults } from "./request-faults.ts";

/** How many faults processes had. */
export interface ProcessFaultCounts {
  workerKills: number;
  simulatorKills: number;
  serverRestarts: number;
  /** The restarts of the server by SIGKILL. */
  serverKills: number;
  workerFreezes: number;
}

/**
 * Keeps freezes and pauses apart: a frozen worker sends what it was about to send when it continues, paused or not.
 */
export interface FreezeCoordination {
  /** How many workers are frozen now. */
  frozen: number;
  /** When workers were frozen. */
  readonly freezes: Array<TimeSpan>;
  /** Whether sends are, or are about to be, paused. */
  isPausing: boolean;
}

/** The surroundings of process faults. */
export interface ProcessFaultContext {
  readonly coordination: FreezeCoordination;
  readonly counts: ProcessFaultCounts;
  /** Undefined for a service that takes none. */
  readonly requestFaults: RequestFaults | undefined;
  readonly runs: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** The share of the work that is done by now, from 0 to 1. */
  readonly workDone: () => number;
}

/** Longer than the dispatch window, and than heartbeat time-outs: what a worker was doing counts as lost. */
const LONG_OUTAGE_MS = 20_000;

/** A shorter campaign has no time for a long outage. */
const RUNS_FOR_LONG_OUTAGE = 60;

/** No process has a fault in the beginning, when nothing is under way, nor at the end. */
const FROM = 0.05;
const TO = 0.85;

/** Kills and freezes workers, simulator and server, independently of each other, until the signal is aborted. */
export const injectProcessFaults = async (
  { service, temporal, workers }: Environment,
  { coordination, counts, requestFaults, runs, seed, signal, workDone }: ProcessFaultContext,
): Promise<void> => {
  const simulator = service.simulator?.process;
  const mayBeLong = runs >= RUNS_FOR_LONG_OUTAGE;
  const targets = new Random(seed, "targets");

  /** One fault for so many runs, at least one: each in one of equal parts of the work, at a random moment. */
  const injectEach = async (
    name: string,
    runsForOne: number,
    inject: (random: Random, index: number) => Promise<void>,
  ): Promise<void> => {
    const random = new Random(seed, name);
    const count = Math.max(1, Math.round(runs / runsForOne));
    for (let index = 0; index < count && !signal.aborted; index++) {
      const at = FROM + ((index + random.next()) * (TO - FROM)) / count;
      await until(() => workDone() >= at, signal);
      await delay(random.int(0, 2_000), signal);
      if (!signal.aborted) await inject(random, index);
    }
  };

  const killWorker = async (worker: SupervisedProcess, downMs: number) => {
    // A worker that is not ready yet has nothing to lose.
    await worker.whenReady(signal);
    if (signal.aborted) return;
    if (await worker.restart("SIGKILL", { downMs })) counts.workerKills += 1;
  };

  await Promise.all([
    injectEach("workers", 20, async (random) => {
      const downMs = random.int(0, 1_000);
      // Now and then no worker is left.
      const killed = targets.chance(0.2) ? workers : [targets.pick(workers)];
      await Promise.all(killed.map((worker) => killWorker(worker, downMs)));
    }),
    injectEach("freezes", 40, async (random, index) => {
      const short = index % 2 === 0 ? 1_000 : 4_000;
      const frozenMs = mayBeLong ? random.pick([1_000, 4_000, LONG_OUTAGE_MS]) : short;
      await until(() => !coordination.isPausing, signal);
      coordination.frozen += 1;
      const from = Date.now();
      const isFrozen = await targets.pick(workers).freeze(() => delay(frozenMs, signal));
      if (isFrozen) counts.workerFreezes += 1;
      coordination.freezes.push({ from, to: Date.now() });
      coordination.frozen -= 1;
    }),
    simulator &&
      injectEach("simulator", 50, async (random) => {
        await simulator.whenReady(signal);
        await requestFaults?.keepCounts();
        const downMs = random.int(0, 3_000);
        if (await simulator.restart("SIGKILL", { downMs })) counts.simulatorKills += 1;
      }),
    injectEach("server", 70, async (random, index) => {
      const killSignal = index % 2 === 0 ? "SIGTERM" : "SIGKILL";
      const downMs = index === 1 && mayBeLong ? LONG_OUTAGE_MS : random.int(0, 3_000);
      await temporal.process.whenReady(signal);
      if (!(await temporal.process.restart(killSignal, { downMs }))) return;
      counts.serverRestarts += 1;
      if (killSignal === "SIGKILL") counts.serverKills += 1;
    }),
  ]);
};
