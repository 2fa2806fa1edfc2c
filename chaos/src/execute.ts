import type { Reporter } from "@durable-payments/tools/command";
import type { BuiltApps } from "./environment/build-apps.ts";
import { type Comparison, compare } from "./evidence/compare.ts";
import { disturb, type DisturbanceCounts } from "./faults/process-faults.ts";
import { readEndings } from "./evidence/run-endings.ts";
import { sendFalseSignals } from "./faults/false-signals.ts";
import { Faults } from "./faults/request-faults.ts";
import { readInDoubt } from "./evidence/in-doubt.ts";
import { Operator, type OperatorCounts } from "./operator/operator.ts";
import type { ChaosOptions } from "./options.ts";
import { pause } from "./delay.ts";
import { Person } from "./operator/answer-tasks.ts";
import { beneficiary } from "./plan/plan-payouts.ts";
import {
  type ExistingBeneficiary,
  LATE_FUNDS,
  type PlannedRun,
  START_BALANCES,
} from "./plan/planned-run.ts";
import { planRuns } from "./plan/plan-runs.ts";
import { type Restored, restoreInBetween } from "./faults/restore-database.ts";
import { awaitEnds, startAgain, startRuns } from "./environment/temporal-calls.ts";
import { startWorld, type World } from "./environment/environment.ts";

/** What a chaos run came to. */
export interface ChaosResult extends Comparison {
  readonly options: ChaosOptions;
  readonly seconds: number;
  /** How many of each kind. */
  readonly runs: Readonly<Record<PlannedRun["kind"], number>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly disturbances: DisturbanceCounts;
  readonly operator: OperatorCounts;
  /** What a return of the server's database came to, where there was one. */
  readonly restored?: Restored;
  readonly answers: Person["answers"];
  /** Questions about sends of unknown outcome, by what the service's lists said of them. */
  readonly questions: Person["questions"];
  readonly sparable: Person["sparable"];
  /** Faults of the chaos run itself, or of what it runs on: answers refused, processes that ended. */
  readonly harness: readonly string[];
  /** Where logs, database and ledger are kept; only when something was found. */
  readonly folder?: string;
}

/** Beneficiaries of each currency that exist before the first run. */
const EXISTING = 3;

const PROGRESS_EVERY_MS = 3_000;

/** So few runs meet no more faults. */
const FEW = 4;

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
  { apps, report, signal }: Conducting,
): Promise<ChaosResult> => {
  const world = await startWorld(options, apps, report);
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

/** What a chaos run is conducted with. */
export interface Conducting {
  readonly apps: BuiltApps;
  readonly report: Reporter;
  readonly signal: AbortSignal;
}

const conductIn = async (
  world: World,
  options: ChaosOptions,
  report: Reporter,
  signal: AbortSignal,
): Promise<ChaosResult> => {
  const { restore, seed } = options;
  const runs = planRuns(options, await createBeneficiaries(world));
  const stillness = { frozen: 0, isPausing: false };
  const faults = new Faults(world.control, seed);
  const operator = new Operator(world, runs, options, stillness);
  const hasDecidingBegun = () => !restore || progress.restored !== undefined;
  const person = new Person(world, runs, options, {
    isFunded: () => operator.isFunded,
    // What is decided between the copy and its return is forgotten with all the rest.
    mayAbandon: hasDecidingBegun,
  });
  const counts: DisturbanceCounts = {
    workerKills: 0,
    simulatorKills: 0,
    serverRestarts: 0,
    serverKills: 0,
    workerFreezes: 0,
    falseSignals: 0,
  };
  const begin = Date.now();
  const seconds = () => Math.round((Date.now() - begin) / 1_000);
  const started: PlannedRun[] = [];
  const progress: { open: number; restored?: Restored } = { open: 0 };
  const workDone = () => (2 * started.length - progress.open) / (2 * runs.length);

  const timeIsUp = AbortSignal.timeout(options.minutes * 60_000);
  const done = new AbortController();
  const over = AbortSignal.any([signal, timeIsUp, done.signal]);
  const show = setInterval(() => {
    report.line(
      `${seconds()} s: started ${started.length}/${runs.length}, open ${progress.open}, ` +
        `answered ${sum(person.answers)}, faults ${sum(faults.fired)}, ` +
        `kills ${counts.workerKills + counts.simulatorKills}, restarts ${counts.serverRestarts}`,
    );
  }, PROGRESS_EVERY_MS);

  /** Ends runs as planned, once what is decided is not forgotten any more. */
  const endAsPlanned = async (run: PlannedRun): Promise<void> => {
    while (!hasDecidingBegun() && !over.aborted) await pause(500, over);
    await operator.endAsPlanned(run, over);
  };
  const work = async (): Promise<void> => {
    const endings: Array<Promise<void>> = [];
    const onLook = (open: number) => (progress.open = open);
    await Promise.all([
      startRuns(world, runs, {
        over,
        onStarted: (run) => {
          started.push(run);
          progress.open += 1;
          endings.push(endAsPlanned(run));
        },
        beforeAlike: ({ alike, kind }) =>
          faults.takeAnswers(kind === "payout" ? "createPayout" : "createCardholder", alike),
      }),
      disturb(world, { counts, faults, over, runs: runs.length, seed, stillness, workDone }),
      restore
        ? restoreInBetween(world, options, {
            operator,
            over,
            startAgain: () => startAgain(world, started, over),
            workDone,
          }).then(async (restored) => {
            progress.restored = restored;
            person.forget();
            await operator.fund(over);
          })
        : operator.intervene(workDone, over),
      awaitEnds(world, { over, onLook, isBegun: () => started.length === runs.length }),
    ]);
    await Promise.all(endings);
    await operator.cleanUp(over);
    await awaitEnds(world, { over, onLook, isBegun: () => true });
  };
  const onSent = () => void (counts.falseSignals += 1);
  const company = [
    faults.inject(() => progress.open > FEW || started.length < runs.length, over),
    person.answer(over),
    sendFalseSignals(world, runs, { onSent, over, seed }),
  ];
  const working = work();
  try {
    // Company has no end of its own: it ends this only by an error.
    await Promise.race([working, Promise.all(company)]);
    done.abort();
    await Promise.all([working, ...company]);
  } finally {
    done.abort();
    clearInterval(show);
    // Calls are under way: nothing is closed before they have ended.
    await Promise.allSettled([working, ...company]);
  }
  signal.throwIfAborted();
  const took = seconds();
  report.line(`${took} s: comparing the ledger with the runs …`);
  const reading = AbortSignal.any([signal, AbortSignal.timeout(READING_MS)]);
  await Promise.all([world.server, world.simulator].map((one) => one.whenReady(reading)));
  const endings = await readEndings(world, runs, reading);
  const inDoubt = await readInDoubt(world, reading);
  // A request that was still on its way would be a duplicate, too.
  await pause(LATE_MS, reading);
  signal.throwIfAborted();
  const crashes = [world.server, world.simulator, ...world.workers].flatMap((one) => one.crashes);
  const refusals = person.refusals.map((refusal) => `An answer was refused: ${refusal}`);
  const funds = operator.isFunded ? { [LATE_FUNDS.currency]: LATE_FUNDS.amount } : {};
  return {
    ...compare({
      runs,
      endings,
      inDoubt,
      ledger: await world.control.ledger(),
      funds: { ...START_BALANCES, ...funds },
      abandoned: person.abandoned,
      ended: operator.ended,
      pauses: operator.pauses,
      restored: restore,
    }),
    options,
    seconds: took,
    runs: {
      payout: runs.filter(({ kind }) => kind === "payout").length,
      payTwice: runs.filter(({ kind }) => kind === "payTwice").length,
      onboarding: runs.filter(({ kind }) => kind === "onboarding").length,
    },
    faults: faults.fired,
    disturbances: counts,
    operator: operator.counts,
    ...(progress.restored !== undefined && { restored: progress.restored }),
    answers: person.answers,
    questions: person.questions,
    sparable: person.sparable,
    harness: [...refusals, ...operator.complaints, ...crashes],
  };
};

const createBeneficiaries = async ({ account, control }: World) => {
  const currencies = Object.keys(START_BALANCES);
  const create = async (index: number): Promise<ExistingBeneficiary> => {
    const currency = currencies[index % currencies.length] ?? "EUR";
    const fields = beneficiary(currency, `Existing supplier ${index + 1}`);
    return { id: await control.createBeneficiary(account, fields), currency };
  };
  const [first, ...more] = await Promise.all(
    Array.from({ length: EXISTING * currencies.length }, (_, index) => create(index)),
  );
  if (first === undefined) throw new Error("no beneficiary was created");
  return [first, ...more] as const;
};

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((all, count) => all + count, 0);
