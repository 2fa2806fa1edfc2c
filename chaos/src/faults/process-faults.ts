import { delay } from "../delay.ts";
import type { Environment } from "../environment/environment.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";
import { Random } from "../plan/random.ts";
import type { RequestFaults } from "./request-faults.ts";

/** A fault of a process: it is killed and started again, or stopped for a while. */
interface ProcessFault {
  /** When: the share of the work that is done, from 0 to 1. */
  readonly at: number;
  /** And so much later. */
  readonly afterMs: number;
  readonly killSignal: NodeJS.Signals;
  /** How long the process stays down. */
  readonly downMs: number;
}

/** How many faults processes had. */
export interface ProcessFaultCounts {
  workerKills: number;
  simulatorKills: number;
  serverRestarts: number;
  /** Of the restarts of the server, those by SIGKILL. */
  serverKills: number;
  workerFreezes: number;
}

/**
 * What a worker was about to send when it was frozen is sent when it continues, paused or not: workers
 * are not frozen while sends are paused.
 */
export interface FreezeCoordination {
  /** Workers that are frozen now. */
  frozen: number;
  /** When workers were frozen, in milliseconds since 1970. */
  readonly freezes: Array<{ readonly from: number; readonly to: number }>;
  /** Whether sends are, or are about to be, paused. */
  isPausing: boolean;
}

/** Longer than the dispatch window, and than heartbeat time-outs: what a worker was doing counts as lost. */
const LONG_OUTAGE_MS = 20_000;

/** How long a worker is frozen: shorter, and longer, than that timeout. */
const FREEZES_MS = [1_000, 4_000, LONG_OUTAGE_MS] as const;

/** A shorter run has no time for a long outage. */
const RUNS_FOR_LONG_OUTAGE = 60;

/** No process has a fault in the beginning, when nothing is under way, nor at the end. */
const FROM = 0.05;
const TO = 0.85;

const plan = (
  random: Random,
  count: number,
  details: (index: number) => Pick<ProcessFault, "killSignal" | "downMs">,
): readonly ProcessFault[] =>
  // One in each of `count` equal parts of the work, at a random moment.
  Array.from({ length: count }, (_, index) => ({
    at: FROM + ((index + random.next()) * (TO - FROM)) / count,
    afterMs: random.int(0, 2_000),
    ...details(index),
  }));

/** Plan the faults of the processes by the seed: each kind at least once. */
const planProcessFaults = (runs: number, seed: number) => {
  const workers = new Random(seed, "workers");
  const simulator = new Random(seed, "simulator");
  const server = new Random(seed, "server");
  const freezes = new Random(seed, "freezes");
  const times = (runsForOne: number) => Math.max(1, Math.round(runs / runsForOne));
  return {
    workers: plan(workers, times(20), () => ({
      killSignal: "SIGKILL",
      downMs: workers.int(0, 1_000),
    })),
    simulator: plan(simulator, times(50), () => ({
      killSignal: "SIGKILL",
      downMs: simulator.int(0, 3_000),
    })),
    freezes: plan(freezes, times(40), (index) => ({
      killSignal: "SIGSTOP",
      downMs:
        runs >= RUNS_FOR_LONG_OUTAGE ? freezes.pick(FREEZES_MS) : (FREEZES_MS[index % 2] ?? 0),
    })),
    server: plan(server, times(70), (index) => ({
      killSignal: index % 2 === 0 ? "SIGTERM" : "SIGKILL",
      downMs: index === 1 && runs >= RUNS_FOR_LONG_OUTAGE ? LONG_OUTAGE_MS : server.int(0, 3_000),
    })),
  };
};

/** Kill and freeze workers, simulator and server, independently of each other, until the signal is aborted. */
export const injectProcessFaults = async (
  environment: Environment,
  {
    coordination,
    counts,
    requestFaults,
    runs,
    seed,
    signal,
    workDone,
  }: {
    readonly coordination: FreezeCoordination;
    readonly counts: ProcessFaultCounts;
    /** Undefined for a service that takes none. */
    readonly requestFaults: RequestFaults | undefined;
    readonly runs: number;
    readonly seed: number;
    readonly signal: AbortSignal;
    /** The share of the work that is done by now, from 0 to 1. */
    readonly workDone: () => number;
  },
): Promise<void> => {
  const { temporal, service, workers } = environment;
  const server = temporal.process;
  const simulator = service.simulator?.process;
  const planned = planProcessFaults(runs, seed);
  const targets = new Random(seed, "targets");

  const injectEach = async (
    faults: readonly ProcessFault[],
    inject: (fault: ProcessFault) => Promise<void>,
  ): Promise<void> => {
    for (const fault of faults) {
      while (workDone() < fault.at && !signal.aborted) await delay(100, signal);
      await delay(fault.afterMs, signal);
      if (signal.aborted) return;
      await inject(fault);
    }
  };

  const killWorker = async (worker: SupervisedProcess, { downMs, killSignal }: ProcessFault) => {
    // One that is not ready yet has nothing to lose.
    await worker.whenReady(signal);
    if (signal.aborted) return;
    if (await worker.restart(killSignal, { downMs })) counts.workerKills += 1;
  };

  await Promise.all([
    injectEach(planned.workers, async (fault) => {
      // Now and then no worker is left.
      const killed = targets.chance(0.2) ? workers : [targets.pick(workers)];
      await Promise.all(killed.map((worker) => killWorker(worker, fault)));
    }),
    injectEach(planned.freezes, async ({ downMs }) => {
      while (coordination.isPausing && !signal.aborted) await delay(100, signal);
      coordination.frozen += 1;
      const from = Date.now();
      const whileFrozen = () => delay(downMs, signal);
      if (await targets.pick(workers).freeze(whileFrozen)) counts.workerFreezes += 1;
      coordination.freezes.push({ from, to: Date.now() });
      coordination.frozen -= 1;
    }),
    injectEach(simulator === undefined ? [] : planned.simulator, async ({ downMs, killSignal }) => {
      await simulator?.whenReady(signal);
      await requestFaults?.keepCounts();
      if (await simulator?.restart(killSignal, { downMs })) counts.simulatorKills += 1;
    }),
    injectEach(planned.server, async ({ downMs, killSignal }) => {
      await server.whenReady(signal);
      if (!(await server.restart(killSignal, { downMs }))) return;
      counts.serverRestarts += 1;
      if (killSignal === "SIGKILL") counts.serverKills += 1;
    }),
  ]);
};
