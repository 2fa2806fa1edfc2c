/*
 * Executes one campaign: plans it, starts the runs, breaks things, answers as people do, and compares the records.
 *
 * A campaign must end even if a part hangs, and must not call a loss what is only slow. So it waits until every run has
 * ended and every write is settled, or its time is over. Only then are the records of the service compared with results
 * and ledger.
 */
import type { Reporter } from "@durable-payments/tools/command";
import { type Campaign, startCampaign } from "./campaign.ts";
import { delay, until } from "./delay.ts";
import { type Environment, startEnvironment } from "./environment/environment.ts";
import { booksOf } from "./evidence/books.ts";
import { checkEndings, readEndings } from "./evidence/endings.ts";
import { checkEvents, followFeed } from "./evidence/events.ts";
import type { Find, Finding } from "./evidence/evidence.ts";
import { checkReports } from "./evidence/misreported.ts";
import { checkMoney } from "./evidence/money.ts";
import { readReports } from "./evidence/read-reports.ts";
import type { Owed } from "./evidence/reports.ts";
import { loseDatabase } from "./faults/lose-database.ts";
import { injectProcessFaults } from "./faults/process-faults.ts";
import { makeRequestFaults } from "./faults/request-faults.ts";
import type { ChaosOptions } from "./options.ts";
import { makeAnswers } from "./people/answers.ts";
import { setLimits } from "./people/limits.ts";
import { makeOperator } from "./people/operator.ts";
import { beneficiary } from "./plan/plan-payouts.ts";
import { planRuns } from "./plan/plan-runs.ts";
import { LATE_FUNDS, type PlannedRun, POLICY, START_BALANCES } from "./plan/planned-run.ts";
import { CAME_BACK, createBeneficiaries } from "./service/service.ts";
import { awaitNoOpenRuns, awaitReturned, awaitSettled, startRuns } from "./start-runs.ts";
import { Tally } from "./tally.ts";

/** The findings of a campaign, and its counts. */
export type ChaosResult = Awaited<ReturnType<typeof executeChaosRun>>;

/** Beneficiaries of each currency that exist before the first run. */
const EXISTING = 3;

const PROGRESS_EVERY_MS = 3_000;

/** So few open runs meet no more faults of requests. */
const FEW = 4;

/** Longest that reading everything may take: a busy machine needs minutes. */
const READING_MS = 5 * 60_000;

/** Longer than a request may take. */
const LATE_MS = 3_000;

/** Executes one campaign. However it ends, every process that it started is ended. */
export const executeChaosRun = async (
  options: ChaosOptions,
  report: Reporter,
  interruption: AbortSignal,
) => {
  const tally = new Tally();
  const findings: Array<Finding> = [];
  const find: Find = (verdict, subject, what) => void findings.push({ verdict, subject, what });
  // A tool of the project runs in this process: what it throws where nobody awaits would end its user's.
  const onUncaught = (error: unknown) => find("crash", "a tool", String(error));
  process.on("uncaughtException", onUncaught);
  const environment = await startEnvironment(options, tally, report);
  let keepFiles = true;
  try {
    const begin = Date.now();
    const seconds = () => Math.round((Date.now() - begin) / 1_000);
    const campaign = await makeCampaign(environment, options, tally, interruption);
    const { runs, started } = campaign;
    const show = setInterval(() => {
      const progress = `started ${started.length}/${runs.length}, open ${campaign.open}`;
      report.line(`${seconds()} s: ${progress}`);
    }, PROGRESS_EVERY_MS);
    const following = environment.accounts.map(
      async ({ hash }) => [hash, await followFeed(campaign, hash)] as const,
    );
    const questions = await work(campaign, options).finally(() => clearInterval(show));
    const followed = new Map(await Promise.all(following));
    interruption.throwIfAborted();
    const took = seconds();
    report.line(`${took} s: comparing …`);
    await compare(campaign, followed, find, interruption);
    const behaviour = environment.services.map((one) => one.behaviour);
    const isKeyed = behaviour.every(({ showsKeys }) => showsKeys === true);
    for (const asked of isKeyed ? Object.keys(questions) : []) {
      // A key tells its own row from every other.
      if (/^createPayout:.*match/u.test(asked)) find("wrong", "a question", asked);
    }
    keepFiles = findings.length + campaign.unexpected.length > 0;
    return {
      findings,
      /** Faults of the campaign itself: retries that were not refused. */
      harness: campaign.unexpected,
      /** How each service behaves. */
      behaviour,
      seconds: took,
      /** Numbers of events: ends of runs, faults, and acts of people. */
      counts: tally.counts,
      /** The questions to people, and how often each was asked. */
      questions,
      /** Where logs, databases and ledgers are kept; only when something was found. */
      folder: keepFiles ? environment.folder : undefined,
    };
  } catch (error) {
    // Interrupted: nobody will read the files.
    keepFiles = !interruption.aborted;
    throw error;
  } finally {
    await environment.end(keepFiles);
    process.off("uncaughtException", onUncaught);
  }
};

/** Plans a campaign, with what has to be there before its first run. */
const makeCampaign = async (
  environment: Environment,
  options: ChaosOptions,
  tally: Tally,
  interruption: AbortSignal,
): Promise<Campaign> => {
  const wanted = Object.keys(START_BALANCES).flatMap((currency) =>
    Array.from({ length: EXISTING }, (_, index) => beneficiary(currency, index)),
  );
  const creating = environment.services.map((service) => createBeneficiaries(service, wanted));
  const existing = (await Promise.all(creating)).flat();
  const runs = planRuns({ ...options, isSimulator: options.service === "simulator" }, existing);
  for (const { kind } of runs) tally.add(`run of ${kind}`);
  const campaign = startCampaign(options, { environment, runs, tally }, interruption);
  await setLimits(campaign, POLICY);
  return campaign;
};

/** Starts, breaks and answers until every run has ended. Returns the questions to people, and how often each was asked. */
const work = async (campaign: Campaign, { ledger, restore }: ChaosOptions) => {
  const { done, environment, runs, seed, signal, started, tally } = campaign;
  const loss = ledger === "postgres" ? "fail over" : restore;
  const requestFaults = environment.simulators.map(({ account, control }, index) => ({
    account,
    ...makeRequestFaults(control, { signal, tally, seed: seed + index }),
  }));
  const operator = makeOperator(campaign);
  const answers = makeAnswers(campaign);
  /** A restored ledger has forgotten its latest decisions, as documented: they are made after it. */
  let mayDecide = loss === undefined || loss.endsWith("temporal");
  const loseAsAsked = async (): Promise<void> => {
    if (loss === undefined) return;
    await loseDatabase(campaign, loss);
    answers.forget();
    mayDecide = true;
  };
  const interveneIn = async (run: PlannedRun): Promise<void> => {
    await until(() => mayDecide, signal);
    await operator.interveneIn(run);
  };
  const beforeAlike = async ({ account, alike, kind }: PlannedRun): Promise<void> => {
    const operation = kind === "onboardCardholder" ? "createCardholder" : "createPayout";
    const faults = requestFaults.find((one) => one.account === account);
    await faults?.loseAnswers(operation, alike);
  };
  const workAll = async (): Promise<void> => {
    await Promise.all([
      startRuns(campaign, beforeAlike, interveneIn),
      injectProcessFaults(campaign),
      loseAsAsked(),
      operator.intervene(loss === undefined),
      awaitNoOpenRuns(campaign),
    ]);
    await awaitNoOpenRuns(campaign);
    await operator.afterwards();
    await awaitNoOpenRuns(campaign);
    await awaitSettled(campaign, operator.retryAnswered);
    await awaitNoOpenRuns(campaign);
    await awaitReturned(campaign);
  };
  const isBusy = () => campaign.open > FEW || started.length < runs.length;
  const background = [...requestFaults.map((one) => one.inject(isBusy)), answers.answer()];
  const working = workAll();
  try {
    // The background ends before the work only by an error.
    await Promise.race([working, Promise.all(background)]);
    done.abort();
    await Promise.all([working, ...background]);
  } finally {
    done.abort();
    // Calls are under way: nothing is closed before they have ended.
    await Promise.allSettled([working, ...background]);
  }
  return answers.questions();
};

/** Compares the records of the services with the results of the runs and with the ledger. */
const compare = async (
  campaign: Campaign,
  followed: ReadonlyMap<string, ReadonlyArray<string>>,
  find: Find,
  interruption: AbortSignal,
): Promise<void> => {
  const { environment, runs, tally } = campaign;
  const { services, simulators, temporal, workers } = environment;
  const reading = AbortSignal.any([interruption, AbortSignal.timeout(READING_MS)]);
  const supervised = [temporal.process, ...simulators.map((one) => one.process)];
  await Promise.all(supervised.map((one) => one.whenReady(reading)));
  const endings = await readEndings(environment, runs, reading);
  const rows = await environment.operate(({ ledger }) => ledger.rows({ limit: 100_000 }), reading);
  // A request that was still on its way would be a duplicate, too.
  await delay(LATE_MS, reading);
  interruption.throwIfAborted();
  const late = "funded" in tally.counts ? { [LATE_FUNDS.currency]: LATE_FUNDS.amount } : {};
  const ledgers = await Promise.all(
    services.map(async ({ account, ledger }) => ({ account, ...(await ledger()) })),
  );
  const back = ledgers.flatMap(({ made }) => made.filter(({ status }) => CAME_BACK.has(status)));
  const evidence = {
    ...campaign,
    endings,
    rows: rows ?? [],
    funds: { ...START_BALANCES, ...late },
    back: new Set(back.map(({ mark }) => mark)),
  };
  const books: Array<Owed> = [];
  for (const { account, ...service } of ledgers) {
    const ofAccount = runs.filter((run) => run.account === account);
    const ofService = { ...evidence, runs: ofAccount, service };
    checkMoney(ofService, find);
    books.push(...booksOf(ofService));
  }
  for (const { id, mark } of back) {
    tally.add("payout came back");
    const standing = rows?.find(({ madeId }) => madeId === id)?.standing;
    if (standing === "returned") tally.add("return was seen");
    if (standing === "completed") find("misreported", mark, `${id} came back, and nobody saw it`);
  }
  const reports = await readReports(environment, reading);
  // A report that could not be read in time is not missing.
  reading.throwIfAborted();
  checkReports(reports, books, find);
  await checkEvents(campaign, followed, books, find, interruption);
  checkEndings(evidence, find, tally);
  for (const { crashes, name } of [...supervised, ...workers]) {
    for (const crash of crashes) find("crash", name, crash);
  }
};
