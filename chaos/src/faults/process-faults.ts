import type { Campaign } from "../campaign.ts";
import { delay, until } from "../delay.ts";
import type { SupervisedProcess } from "../environment/supervised-process.ts";
import { Random } from "../plan/random.ts";
import { LEDGER_FAULTS } from "./ledger-faults.ts";

/** Longer than the dispatch window, and than heartbeat time-outs: what a worker was doing counts as lost. */
const LONG_OUTAGE_MS = 20_000;

/** A shorter campaign has no time for a long outage. */
const RUNS_FOR_LONG_OUTAGE = 60;

/** No process has a fault in the beginning, when nothing is under way, nor at the end. */
const FROM = 0.05;
const TO = 0.85;

/** Kills and freezes workers, simulator and server, independently of each other, until the signal is aborted. */
export const injectProcessFaults = async (campaign: Campaign): Promise<void> => {
  const { environment, freezing, frozen, seed, signal, tally } = campaign;
  const { ledgerServer, simulators, temporal, workers } = environment;
  const { length: runs } = campaign.runs;
  const mayBeLong = runs >= RUNS_FOR_LONG_OUTAGE;
  const targets = new Random(seed, "targets");
  const faults = Object.entries(LEDGER_FAULTS);
  const firstFault = new Random(seed, "ledger faults").int(0, faults.length - 1);

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
      await until(() => campaign.workDone >= at, signal);
      await delay(random.int(0, 2_000), signal);
      if (!signal.aborted) await inject(random, index);
    }
  };

  /** A process that is not ready yet has nothing to lose. */
  const kill = async (
    name: string,
    process: SupervisedProcess,
    downMs: number,
    killSignal: NodeJS.Signals = "SIGKILL",
  ): Promise<void> => {
    await process.whenReady(signal);
    if (!signal.aborted && (await process.restart(killSignal, downMs))) tally.add(`${name} killed`);
  };

  await Promise.all([
    injectEach("workers", 20, async (random) => {
      const downMs = random.int(0, 1_000);
      // Now and then no worker is left.
      const killed = targets.chance(0.2) ? workers : [targets.pick(workers)];
      await Promise.all(killed.map((one) => kill("worker", one, downMs)));
    }),
    injectEach("freezes", 40, async (random, index) => {
      const short = index % 2 === 0 ? 1_000 : 4_000;
      const frozenMs = mayBeLong ? random.pick([1_000, 4_000, LONG_OUTAGE_MS]) : short;
      await until(() => !freezing.isPausing, signal);
      freezing.count += 1;
      const from = Date.now();
      const isFrozen = await targets.pick(workers).freeze(() => delay(frozenMs, signal));
      if (isFrozen) tally.add("worker frozen");
      frozen.push({ from, to: Date.now() });
      freezing.count -= 1;
    }),
    ...simulators.map(({ process }) =>
      injectEach(process.name, 50, (random) => kill("simulator", process, random.int(0, 3_000))),
    ),
    ledgerServer &&
      injectEach("ledger", 3, async (random, index) => {
        // Each in turn, and the seed chooses the first.
        const [name, fault] = faults[(firstFault + index) % faults.length] ?? [];
        await fault?.(ledgerServer, random, signal);
        tally.add(`ledger: ${name}`);
      }),
    injectEach("server", 70, async (random, index) => {
      const killSignal = index % 2 === 0 ? "SIGTERM" : "SIGKILL";
      const downMs = index === 1 && mayBeLong ? LONG_OUTAGE_MS : random.int(0, 3_000);
      await kill("server", temporal.process, downMs, killSignal);
    }),
  ]);
};
