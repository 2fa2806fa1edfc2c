import type { Reporter } from "@durable-payments/tools/command";
import type { Campaign } from "./campaign.ts";
import { delay, until } from "./delay.ts";
import { type Environment, startEnvironment } from "./environment/environment.ts";
import { checkEndings, readEndings } from "./evidence/endings.ts";
import type { Find, Finding } from "./evidence/evidence.ts";
import { checkMoney } from "./evidence/money.ts";
import { loseDatabase, type LossResult } from "./faults/lose-database.ts";
import { injectProcessFaults } from "./faults/process-faults.ts";
import { makeRequestFaults } from "./faults/request-faults.ts";
import { type ChaosOptions, forgetsDecisions } from "./options.ts";
import { makeAnswers } from "./people/answers.ts";
import { setLimits } from "./people/limits.ts";
import { makeOperator } from "./people/operator.ts";
import { beneficiary } from "./plan/plan-payouts.ts";
import { planRuns } from "./plan/plan-runs.ts";
import { LATE_FUNDS, type PlannedRun, POLICY, START_BALANCES } from "./plan/planned-run.ts";
import { createBeneficiary } from "./service/service.ts";
import { awaitNoOpenRuns, awaitSettled, startRuns } from "./start-runs.ts";
import { Tally } from "./tally.ts";

/** The findings of a campaign, and its counts. */
export type ChaosResult = Awaited<ReturnType<typeof executeChaosRun>>;

/** The surroundings of a campaign. */
export interface ExecutionContext {
  readonly report: Reporter;
  /** Interrupts it. */
  readonly signal: AbortSignal;
}

/** Beneficiaries of each currency that exist before the first run. */
const EXISTING = 3;

const PROGRESS_EVERY_MS = 3_000;

/** So few open runs meet no more faults of requests. */
const FEW = 4;

/** After this time, open runs are read as they are. */
const READING_MS = 60_000;

/** Longer than a request may take. */
const LATE_MS = 3_000;

/** Executes one campaign. However it ends, every process that it started is ended. */
export const executeChaosRun = async (
  options: ChaosOptions,
  { report, signal }: ExecutionContext,
) => {
  const tally = new Tally();
  // A tool of the project runs in this process: what it throws where nobody awaits would end its user's.
  const uncaught: Array<string> = [];
  const onUncaught = (error: unknown) => void uncaught.push(String(error));
  process.on("uncaughtException", onUncaught);
  const environment = await startEnvironment(options, tally, report);
  let keepFiles = true;
  try {
    const result = await executeIn(environment, options, { report, signal, tally, uncaught });
    keepFiles = result.findings.length + result.harness.length > 0;
    /** Where logs, databases and ledgers are kept; only when something was found. */
    return { ...result, folder: keepFiles ? environment.folder : undefined };
  } catch (error) {
    // Interrupted: nobody will read the files.
    keepFiles = !signal.aborted;
    throw error;
  } finally {
    await environment.end({ keepFiles });
    process.off("uncaughtException", onUncaught);
  }
};

const executeIn = async (
  environment: Environment,
  options: ChaosOptions,
  {
    report,
    signal: interruption,
    tally,
    uncaught,
  }: ExecutionContext & { readonly tally: Tally; readonly uncaught: ReadonlyArray<string> },
) => {
  const { loss, seed } = options;
  const { services, temporal, workers } = environment;
  const simulators = services.flatMap(({ account, simulator }) =>
    simulator === undefined ? [] : [{ account, ...simulator }],
  );
  const isSimulator = simulators.length > 0;
  const runs = planRuns({ ...options, isSimulator }, await createBeneficiaries(environment));
  for (const { kind } of runs) tally.add(`run of ${kind}`);
  const begin = Date.now();
  const seconds = () => Math.round((Date.now() - begin) / 1_000);
  const started: Array<PlannedRun> = [];
  const progress: { open: number; loss?: LossResult | undefined } = { open: 0 };

  const done = new AbortController();
  const timeIsUp = AbortSignal.timeout(options.minutes * 60_000);
  const signal = AbortSignal.any([interruption, timeIsUp, done.signal]);
  const campaign: Campaign = {
    environment,
    runs,
    seed,
    signal,
    tally,
    workDone: () => (2 * started.length - progress.open) / (2 * runs.length),
    freezing: { frozen: 0, isPausing: false, freezes: [] },
    quiet: [],
    ended: new Map(),
    interrupted: new Set(),
    approved: [],
    unexpected: [],
  };
  await setLimits(campaign, POLICY);
  const requestFaults = simulators.map(({ account, control }, index) => ({
    account,
    ...makeRequestFaults(control, { ...campaign, seed: seed + index }),
  }));
  const operator = makeOperator(campaign);
  const answers = makeAnswers(campaign);
  const show = setInterval(() => {
    const { open } = progress;
    report.line(`${seconds()} s: started ${started.length}/${runs.length}, open ${open}`);
  }, PROGRESS_EVERY_MS);

  const loseAsAsked = async (): Promise<void> => {
    if (loss === undefined) return;
    progress.loss = await loseDatabase(campaign, loss, started);
    answers.forget();
  };
  /** A restored ledger has forgotten its latest decisions, as documented: they are made after it. */
  const interveneIn = async (run: PlannedRun): Promise<void> => {
    const isOver = () => !forgetsDecisions(loss) || progress.loss !== undefined;
    await until(isOver, signal);
    await operator.interveneIn(run);
  };
  const untilNoneIsOpen = (areAllStarted: () => boolean) =>
    awaitNoOpenRuns(campaign, areAllStarted, (open) => (progress.open = open));
  const work = async (): Promise<void> => {
    const interventions: Array<Promise<void>> = [];
    await Promise.all([
      startRuns(campaign, {
        onStarted: (run) => {
          started.push(run);
          progress.open += 1;
          interventions.push(interveneIn(run));
        },
        beforeAlike: async ({ account, alike, kind }) => {
          const operation = kind === "onboardCardholder" ? "createCardholder" : "createPayout";
          const faults = requestFaults.find((one) => one.account === account);
          await faults?.loseAnswers(operation, alike);
        },
      }),
      injectProcessFaults(campaign),
      loseAsAsked(),
      operator.intervene(loss === undefined),
      untilNoneIsOpen(() => started.length === runs.length),
    ]);
    await Promise.all(interventions);
    await untilNoneIsOpen(() => true);
    await operator.afterwards();
    await untilNoneIsOpen(() => true);
    await awaitSettled(campaign);
  };
  const isBusy = () => progress.open > FEW || started.length < runs.length;
  const background = [...requestFaults.map((one) => one.inject(isBusy)), answers.answer()];
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
  report.line(`${took} s: comparing …`);
  const reading = AbortSignal.any([interruption, AbortSignal.timeout(READING_MS)]);
  const supervised = [temporal.process, ...simulators.map((one) => one.process)];
  await Promise.all(supervised.map((one) => one.whenReady(reading)));
  const endings = await readEndings(environment, runs, reading);
  const rows = await environment.operate(({ ledger }) => ledger.rows({ limit: 100_000 }), reading);
  // A request that was still on its way would be a duplicate, too.
  await delay(LATE_MS, reading);
  interruption.throwIfAborted();
  const late = "funded" in tally.counts ? { [LATE_FUNDS.currency]: LATE_FUNDS.amount } : {};
  const evidence = {
    ...campaign,
    endings,
    rows: rows ?? [],
    funds: { ...START_BALANCES, ...late },
    forgottenBefore: progress.loss?.forgottenBefore,
    isTemporalRestored:
      (loss === "restore temporal" || loss === "restore both") && progress.loss !== undefined,
    frozen: campaign.freezing.freezes,
  };
  const findings: Array<Finding> = [];
  const find: Find = (verdict, subject, what) => void findings.push({ verdict, subject, what });
  for (const service of services) {
    const ofAccount = runs.filter(({ account }) => account === service.account);
    checkMoney({ ...evidence, runs: ofAccount, service: await service.ledger() }, find);
  }
  checkEndings(evidence, find, tally);
  for (const { crashes, name } of [...supervised, ...workers]) {
    for (const crash of crashes) find("crash", name, crash);
  }
  for (const thrown of uncaught) find("crash", "a tool", thrown);
  const questions = answers.questions();
  const isKeyed = services.every(({ behaviour }) => behaviour["showsKeys"] === true);
  for (const asked of isKeyed ? Object.keys(questions) : []) {
    // A key tells its own row from every other.
    if (/^createPayout:.*match/u.test(asked)) find("wrong", "a question", asked);
  }
  const isUnstopped = progress.loss?.stopped === false;
  return {
    findings,
    /** Faults of the campaign itself: retries that were not refused. */
    harness: [
      ...campaign.unexpected,
      ...(isUnstopped ? ["The ledger was restored, and sends did not stop until recover"] : []),
    ],
    /** How each service behaves. */
    behaviour: services.map(({ behaviour }) => behaviour),
    seconds: took,
    /** What happened how often: ends of runs, faults, and what people did. */
    counts: tally.counts,
    /** The questions to people, and how often each was asked. */
    questions,
  };
};

const createBeneficiaries = ({ services }: Environment) =>
  Promise.all(
    services.flatMap((service) =>
      Object.keys(START_BALANCES).flatMap((currency) =>
        Array.from({ length: EXISTING }, async (_, index) => {
          const id = await createBeneficiary(service, beneficiary(currency, index));
          return { account: service.account, id, currency };
        }),
      ),
    ),
  );
