import type { Reporter } from "@durable-payments/tools/command";
import { delay } from "./delay.ts";
import type { BuiltApps } from "./environment/build-apps.ts";
import { type Environment, startEnvironment } from "./environment/environment.ts";
import { compare, type Comparison } from "./evidence/compare.ts";
import { readEndings, readInDoubt } from "./evidence/run-endings.ts";
import { sendFalseSignals } from "./faults/false-signals.ts";
import { injectKeyringFaults } from "./faults/keyring-faults.ts";
import { injectProcessFaults, type ProcessFaultCounts } from "./faults/process-faults.ts";
import { RequestFaults } from "./faults/request-faults.ts";
import { restoreDatabase, type RestoreResult } from "./faults/restore-database.ts";
import { Operator, type OperatorCounts } from "./operator/operator.ts";
import { TaskResolver } from "./operator/resolve-tasks.ts";
import type { ChaosOptions } from "./options.ts";
import { beneficiary } from "./plan/plan-payouts.ts";
import { planRuns } from "./plan/plan-runs.ts";
import {
  type ExistingBeneficiary,
  LATE_FUNDS,
  type PlannedRun,
  START_BALANCES,
} from "./plan/planned-run.ts";
import { awaitNoOpenRuns, startForgotten, startRuns } from "./start-runs.ts";

/** What a chaos run has found, and how much there was of everything. */
export interface ChaosResult extends Comparison {
  readonly options: ChaosOptions;
  readonly seconds: number;
  /** How many of each kind. */
  readonly runs: Readonly<Record<PlannedRun["kind"], number>>;
  readonly requestFaults: Readonly<Record<string, number>>;
  readonly processFaults: ProcessFaultCounts;
  readonly falseSignals: number;
  readonly operator: OperatorCounts;
  /** What Temporal has forgotten by the return of its database, where there was one. */
  readonly restored?: RestoreResult;
  /** Tasks that were resolved, by decision. */
  readonly resolutions: TaskResolver["resolutions"];
  /** Tasks about sends of unknown outcome, by how they were reconciled with the service's lists. */
  readonly reconciliations: TaskResolver["reconciliations"];
  readonly avoidable: TaskResolver["avoidable"];
  /** Faults of the chaos run itself, or of what it runs on: rejected resolutions, crashes. */
  readonly harness: readonly string[];
  /** Where logs, database and ledger are kept; only when something was found. */
  readonly folder?: string;
}

/** What a chaos run is executed with. */
export interface ExecutionContext {
  readonly apps: BuiltApps;
  readonly report: Reporter;
  /** Interrupts it. */
  readonly signal: AbortSignal;
}

/** Beneficiaries of each currency that exist before the first run. */
const EXISTING = 3;

const PROGRESS_EVERY_MS = 3_000;

/** So few open runs meet no more faults of requests. */
const FEW = 4;

/** After this, what has not ended is read as it is. */
const READING_MS = 60_000;

/** Longer than a request may take. */
const LATE_MS = 3_000;

/** Whether nothing was found. */
export const isGreen = ({ duplicates, harness, lost, stuck, wrong }: ChaosResult): boolean =>
  [duplicates, harness, lost, stuck, wrong].every((found) => found.length === 0);

/** Execute one chaos run. However it ends, every process that it started is ended. */
export const executeChaosRun = async (
  options: ChaosOptions,
  { apps, report, signal }: ExecutionContext,
): Promise<ChaosResult> => {
  const environment = await startEnvironment(options, apps, report);
  let keepFiles = true;
  try {
    const result = await executeIn(environment, options, report, signal);
    keepFiles = !isGreen(result);
    return keepFiles ? { ...result, folder: environment.folder } : result;
  } catch (error) {
    // Interrupted: nobody will read the files.
    keepFiles = !signal.aborted;
    throw error;
  } finally {
    await environment.end({ keepFiles });
  }
};

const executeIn = async (
  environment: Environment,
  options: ChaosOptions,
  report: Reporter,
  interruption: AbortSignal,
): Promise<ChaosResult> => {
  const { restore, seed } = options;
  const runs = planRuns(options, await createBeneficiaries(environment));
  const coordination = { frozen: 0, isPausing: false };
  const requestFaults = new RequestFaults(environment.control, seed);
  const operator = new Operator(environment, runs, options, coordination);
  const areDecisionsKept = () => !restore || progress.restored !== undefined;
  const resolver = new TaskResolver(environment, runs, options, {
    isFunded: () => operator.isFunded,
    // What is decided between the copy and its return is forgotten with all the rest.
    mayAbandon: areDecisionsKept,
  });
  const counts: ProcessFaultCounts = {
    workerKills: 0,
    simulatorKills: 0,
    serverRestarts: 0,
    serverKills: 0,
    workerFreezes: 0,
    partKills: 0,
    databaseStops: 0,
  };
  let falseSignals = 0;
  const begin = Date.now();
  const seconds = () => Math.round((Date.now() - begin) / 1_000);
  const started: PlannedRun[] = [];
  const progress: { open: number; restored?: RestoreResult } = { open: 0 };
  const workDone = () => (2 * started.length - progress.open) / (2 * runs.length);

  const done = new AbortController();
  const timeIsUp = AbortSignal.timeout(options.minutes * 60_000);
  const signal = AbortSignal.any([interruption, timeIsUp, done.signal]);
  const show = setInterval(() => {
    report.line(
      `${seconds()} s: started ${started.length}/${runs.length}, open ${progress.open}, ` +
        `resolved ${sum(resolver.resolutions)}, faults ${sum(requestFaults.fired)}, ` +
        `kills ${counts.workerKills + counts.simulatorKills + counts.partKills}, ` +
        `restarts ${counts.serverRestarts + counts.databaseStops}`,
    );
  }, PROGRESS_EVERY_MS);

  /** End a run as planned, once decisions are not forgotten any more. */
  const endAsPlanned = async (run: PlannedRun): Promise<void> => {
    while (!areDecisionsKept() && !signal.aborted) await delay(500, signal);
    await operator.endAsPlanned(run, signal);
  };
  const work = async (): Promise<void> => {
    const endings: Array<Promise<void>> = [];
    const onCount = (open: number) => (progress.open = open);
    await Promise.all([
      startRuns(environment, runs, {
        signal,
        onStarted: (run) => {
          started.push(run);
          progress.open += 1;
          endings.push(endAsPlanned(run));
        },
        beforeAlike: ({ alike, kind }) =>
          requestFaults.loseAnswers(kind === "payout" ? "createPayout" : "createCardholder", alike),
      }),
      injectProcessFaults(environment, {
        coordination,
        counts,
        requestFaults,
        runs: runs.length,
        seed,
        signal,
        workDone,
      }),
      ...(environment.keyrings === undefined
        ? []
        : [injectKeyringFaults(environment.keyrings, { signal, workDone })]),
      restore
        ? restoreDatabase(environment, options, {
            operator,
            signal,
            startForgotten: () => startForgotten(environment, started, signal),
            workDone,
          }).then(async (restored) => {
            progress.restored = restored;
            resolver.forgetResolved();
            await operator.fund(signal);
          })
        : operator.intervene(workDone, signal),
      awaitNoOpenRuns(environment, {
        signal,
        onCount,
        areAllStarted: () => started.length === runs.length,
      }),
    ]);
    await Promise.all(endings);
    await operator.retryRemaining(signal);
    await awaitNoOpenRuns(environment, { signal, onCount, areAllStarted: () => true });
  };
  const isBusy = () => progress.open > FEW || started.length < runs.length;
  const background = [
    requestFaults.inject(isBusy, signal),
    resolver.resolveUntil(signal),
    sendFalseSignals(environment, runs, { onSent: () => void (falseSignals += 1), seed, signal }),
  ];
  const working = work();
  try {
    // The background ends before the work only by an error.
    await Promise.race([working, Promise.all(background)]);
    done.abort();
    await Promise.all([working, ...background]);
  } finally {
    done.abort();
    clearInterval(show);
    // Calls are under way: nothing is closed before they have ended.
    await Promise.allSettled([working, ...background]);
  }
  interruption.throwIfAborted();
  const took = seconds();
  report.line(`${took} s: comparing the ledger with the runs …`);
  const reading = AbortSignal.any([interruption, AbortSignal.timeout(READING_MS)]);
  const { server, simulator, workers } = environment;
  await Promise.all([server, simulator].map((one) => one.whenReady(reading)));
  const endings = await readEndings(environment, runs, reading);
  const inDoubt = await readInDoubt(environment, reading);
  // A request that was still on its way would be a duplicate, too.
  await delay(LATE_MS, reading);
  interruption.throwIfAborted();
  const crashes = [server, simulator, ...workers].flatMap((one) => one.crashes);
  const rejections = resolver.rejections.map((one) => `A resolution was rejected: ${one}`);
  const funds = operator.isFunded ? { [LATE_FUNDS.currency]: LATE_FUNDS.amount } : {};
  return {
    ...compare({
      runs,
      endings,
      inDoubt,
      ledger: await environment.control.ledger(),
      funds: { ...START_BALANCES, ...funds },
      abandoned: resolver.abandoned,
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
    requestFaults: requestFaults.fired,
    processFaults: counts,
    falseSignals,
    operator: operator.counts,
    ...(progress.restored !== undefined && { restored: progress.restored }),
    resolutions: resolver.resolutions,
    reconciliations: resolver.reconciliations,
    avoidable: resolver.avoidable,
    harness: [...rejections, ...operator.unexpectedExits, ...crashes],
  };
};

const createBeneficiaries = async ({ account, control }: Environment) => {
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
