import type { Reporter } from "../progress.ts";
import { type Comparison, compare } from "./compare.ts";
import { disturb, type DisturbanceCounts } from "./disturbances.ts";
import { readEndings } from "./endings.ts";
import { Faults } from "./faults.ts";
import type { ChaosOptions } from "./options.ts";
import { pause } from "./pause.ts";
import { Person } from "./person.ts";
import {
  beneficiary,
  CURRENCIES,
  type ExistingBeneficiary,
  planRuns,
  START_BALANCES,
} from "./planned-runs.ts";
import { call, isPassing, startRuns } from "./temporal.ts";
import { startWorld, type World } from "./world.ts";

/** What a chaos run came to. */
export interface ChaosResult extends Comparison {
  readonly options: ChaosOptions;
  readonly seconds: number;
  readonly onboardings: number;
  readonly payouts: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly disturbances: DisturbanceCounts;
  readonly answers: Person["answers"];
  /** Faults of the chaos run itself, or of what it runs on: answers refused, processes that ended. */
  readonly harness: readonly string[];
  /** Where logs, database and ledger are kept; only when something was found. */
  readonly folder?: string;
}

/** Beneficiaries of each currency that exist before the first run. */
const EXISTING = 3;

const PROGRESS_EVERY_MS = 3_000;

/** After this, what has not ended is read as it stands. */
const READING_MS = 60_000;

/** Longer than a request may take. */
const LATE_MS = 3_000;

/** Whether nothing was found. */
export const isGreen = ({ duplicates, harness, lost, stuck, wrong }: ChaosResult): boolean =>
  [duplicates, harness, lost, stuck, wrong].every((found) => found.length === 0);

/** Runs everything, and compares. Ends every process that it started, however it ends. */
export const conduct = async (
  options: ChaosOptions,
  report: Reporter,
  signal: AbortSignal,
): Promise<ChaosResult> => {
  const world = await startWorld(options, report);
  let keepFiles = true;
  try {
    const result = await conductIn(world, options, report, signal);
    keepFiles = !isGreen(result);
    return keepFiles ? { ...result, folder: world.folder } : result;
  } catch (error) {
    // Interrupted: nobody will look at the files.
    keepFiles = !signal.aborted;
    throw error;
  } finally {
    await world.end({ keepFiles });
  }
};

const conductIn = async (
  world: World,
  options: ChaosOptions,
  report: Reporter,
  signal: AbortSignal,
): Promise<ChaosResult> => {
  const { seed } = options;
  const runs = planRuns(options, await createBeneficiaries(world));
  const faults = new Faults(world.control, seed);
  const person = new Person(world, runs, seed);
  const counts = { workerKills: 0, simulatorKills: 0, serverRestarts: 0, serverKills: 0 };
  const begin = Date.now();
  const seconds = () => Math.round((Date.now() - begin) / 1_000);
  const state = { started: 0, closed: 0 };

  const timeIsUp = AbortSignal.timeout(options.minutes * 60_000);
  const done = new AbortController();
  const over = AbortSignal.any([signal, timeIsUp, done.signal]);
  const progress = setInterval(() => {
    report.line(
      `${seconds()} s: started ${state.started}/${runs.length}, ended ${state.closed}, ` +
        `answered ${sum(person.answers)}, faults ${sum(faults.fired)}, ` +
        `kills ${counts.workerKills + counts.simulatorKills}, restarts ${counts.serverRestarts}`,
    );
  }, PROGRESS_EVERY_MS);
  try {
    const company = [faults.inject(over), person.answer(over)];
    const work = Promise.all([
      startRuns(world, runs, {
        over,
        onStarted: () => (state.started += 1),
        beforeAlike: ({ alike, kind }) =>
          faults.takeAnswers(kind === "payout" ? "createPayout" : "createCardholder", alike),
      }),
      disturb(world, {
        counts,
        faults,
        over,
        runs: runs.length,
        seed,
        workDone: () => (state.started + state.closed) / (2 * runs.length),
      }),
      awaitEnds(world, runs.length, { over, onLook: (closed) => (state.closed = closed) }),
    ]);
    // Company has no end of its own: it ends this only by an error.
    await Promise.race([work, Promise.all(company)]);
    done.abort();
    await Promise.all([work, ...company]);
  } finally {
    done.abort();
    clearInterval(progress);
  }
  signal.throwIfAborted();
  const took = seconds();
  report.line(`${took} s: comparing the ledger with the runs …`);
  const reading = AbortSignal.any([signal, AbortSignal.timeout(READING_MS)]);
  await Promise.all([world.server, world.simulator].map((one) => one.whenReady(reading)));
  const endings = await readEndings(world, runs, reading);
  // A request that was still on its way would be a duplicate, too.
  await pause(LATE_MS, reading);
  signal.throwIfAborted();
  const crashes = [world.server, world.simulator, ...world.workers].flatMap((one) => one.crashes);
  return {
    ...compare({
      runs,
      endings,
      ledger: await world.control.ledger(),
      startBalances: START_BALANCES,
      echoKeys: options.echoKeys,
    }),
    options,
    seconds: took,
    onboardings: runs.filter(({ kind }) => kind === "onboarding").length,
    payouts: runs.filter(({ kind }) => kind === "payout").length,
    faults: faults.fired,
    disturbances: counts,
    answers: person.answers,
    harness: [...person.refusals.map((refusal) => `An answer was refused: ${refusal}`), ...crashes],
  };
};

const createBeneficiaries = async ({ account, control }: World) => {
  const create = async (index: number): Promise<ExistingBeneficiary> => {
    const currency = CURRENCIES[index % CURRENCIES.length] ?? "EUR";
    const fields = beneficiary(currency, `Existing supplier ${index + 1}`);
    return { id: await control.createBeneficiary(account, fields), currency };
  };
  const [first, ...more] = await Promise.all(
    Array.from({ length: EXISTING * CURRENCIES.length }, (_, index) => create(index)),
  );
  if (first === undefined) throw new Error("no beneficiary was created");
  return [first, ...more] as const;
};

const awaitEnds = async (
  world: World,
  runs: number,
  { onLook, over }: { readonly onLook: (closed: number) => void; readonly over: AbortSignal },
): Promise<void> => {
  while (!over.aborted) {
    try {
      const { count } = await call(world, (client) =>
        // Not the permits to sign in, which end by themselves.
        client.workflow.count(
          `ExecutionStatus != "Running" AND WorkflowType IN ("onboardCardholder", "payout")`,
        ),
      );
      onLook(count);
      if (count >= runs) return;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await pause(1_000, over);
  }
};

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);
