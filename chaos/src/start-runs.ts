import { defaultAssumptions } from "@durable-payments/client/effect";
import { checkBatchFile, payFile, planFile } from "@durable-payments/control/batch";
import { startPaymentAt } from "@durable-payments/control/start";
import { OPEN_RUNS } from "@durable-payments/protocol";
import { ScheduleAlreadyRunning, WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Campaign } from "./campaign.ts";
import { delay, until } from "./delay.ts";
import { TASK_QUEUE } from "./environment/environment.ts";
import { CAME_BACK, ignoreUnavailable } from "./service/service.ts";
import { KINDS, type PlannedRun } from "./plan/planned-run.ts";
import { Random } from "./plan/random.ts";

/** The person who starts runs, and so cannot approve them. */
const STARTER = "ada";

/**
 * Starts a run as the project's client does, again and again until Temporal has confirmed it.
 *
 * @returns whether this call started it; undefined if the signal was aborted first.
 */
const start = (campaign: Campaign, run: PlannedRun): Promise<boolean | undefined> => {
  const { input, kind, workflowId } = run;
  if (kind === "paySalary") return startSchedules(campaign, run);
  if (run.file !== undefined) return payFileOf(campaign, run.file);
  return campaign.operate(async ({ accounts, client, ledger }) => {
    const account = accounts.find(({ name }) => name === run.account)?.hash ?? "";
    try {
      await startPaymentAt(Date.now(), client, kind, {
        workflowId,
        startedBy: STARTER,
        taskQueue: TASK_QUEUE,
        args: [input],
        ledger,
        account,
      });
      return true;
    } catch (error) {
      // Perhaps by an attempt before this one, whose answer was lost.
      if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
      throw error;
    }
  });
};

/** How far back a Schedule is backfilled: it fires so often as minutes. */
const BACKFILL_MS = 2 * 60_000;

/** Two Schedules pay the same key: each fires by hand, and is backfilled, in whatever order. */
const startSchedules = (
  { operate, seed }: Campaign,
  { input, kind, workflowId }: PlannedRun,
): Promise<boolean | undefined> =>
  operate(async ({ client }) => {
    const key = workflowId.replace("payout/", "");
    const other = new Random(seed, workflowId).pick(["step", "child with key"]);
    for (const by of ["child", other]) {
      const scheduleId = `chaos-schedule-${key}-${by}`;
      const create = client.schedule.create({
        scheduleId,
        spec: { intervals: [{ every: "1 minute" }] },
        state: { paused: true },
        policies: { overlap: "ALLOW_ALL" },
        action: {
          type: "startWorkflow",
          workflowType: kind,
          workflowId: scheduleId,
          taskQueue: TASK_QUEUE,
          args: [{ by, key, pay: input }],
        },
      });
      // Perhaps by an attempt before this one, whose answer was lost.
      await create.catch((error: unknown) => {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      });
      const handle = client.schedule.getHandle(scheduleId);
      const end = new Date();
      const start = new Date(end.getTime() - BACKFILL_MS);
      await Promise.all([handle.trigger(), handle.backfill({ start, end })]);
    }
    return true;
  });

/** Uploads the rows of a file; a person approves them later. Repeated, it continues. */
const payFileOf = (
  { environment, operate, runs }: Campaign,
  name: string,
): Promise<boolean | undefined> =>
  operate(async (operations) => {
    const rows = runs.filter((run) => run.file === name);
    // The start of each row uploads the file, all at the same time: each by a copy.
    const folder = await mkdtemp(join(environment.folder, "file-"));
    const file = join(folder, `${name}.jsonl`);
    const lines = rows.map(({ input, workflowId }) =>
      JSON.stringify({ key: workflowId.replace("payout/", ""), ...input }),
    );
    await writeFile(file, lines.join("\n"));
    const checked = await checkBatchFile("payout", file, defaultAssumptions);
    const options = { by: STARTER, how: "--by", notDuplicate: "alike as planned" };
    const plan = await planFile(operations, checked, options);
    await payFile(operations, checked, plan, options);
    return plan.state === null;
  });

/** Starts all runs once more, as people do after a restore: Temporal, or the ledger, has forgotten some. */
export const startForgotten = async (campaign: Campaign) => {
  for (const run of campaign.started) {
    if ((await start(campaign, run)) === true) campaign.tally.add("forgotten");
  }
};

/**
 * Starts all runs, each at its time; those of the same moment at once.
 *
 * @param beforeAlike called once for runs that are alike, before they start
 */
export const startRuns = async (
  campaign: Campaign,
  beforeAlike: (one: PlannedRun) => Promise<void>,
  onStarted: (run: PlannedRun) => Promise<void>,
): Promise<void> => {
  const { runs, signal, started } = campaign;
  const begin = Date.now();
  await Promise.all(
    runs.map(async (run, index) => {
      await delay(begin + run.startAtMs - Date.now(), signal);
      const isFirst = runs[index - 1]?.startAtMs !== run.startAtMs;
      if (run.alike > 1 && isFirst && !signal.aborted) await beforeAlike(run);
      if (signal.aborted || (await start(campaign, run)) === undefined) return;
      started.push(run);
      campaign.open += 1;
      await onStarted(run);
    }),
  );
};

const COUNT_EVERY_MS = 1_000;

/** Visibility lags: so many counts in a row must find no open run. */
const COUNTS = 3;

/** Waits until all runs have been started, and none is open any more. */
export const awaitNoOpenRuns = async (campaign: Campaign): Promise<void> => {
  const { operate, runs, signal, started } = campaign;
  const query = `${OPEN_RUNS} AND WorkflowType IN ('${KINDS.join("', '")}')`;
  for (let zeros = 0; zeros < COUNTS && !signal.aborted;) {
    await delay(COUNT_EVERY_MS, signal);
    const hasStarted = started.length === runs.length;
    const counted = await operate(({ client }) => client.workflow.count(query));
    if (counted === undefined) return;
    campaign.open = counted.count;
    zeros = hasStarted && counted.count === 0 ? zeros + 1 : 0;
  }
};

/** Longer than any payout takes, and the tracker rests. */
const COMPLETED_WITHIN_MS = 150_000;

/** Longer than the time to the latest return, and that to its reading. */
const RETURNED_WITHIN_MS = 120_000;

/** Waits until each payout that comes back has come back, and the ledger has seen it; the comparison finds the others. */
export const awaitReturned = async ({ environment, operate, signal }: Campaign): Promise<void> => {
  const areSeen = async () => {
    const books = await Promise.all(
      environment.services.map((service) => service.ledger().catch(ignoreUnavailable)),
    );
    if (books.some((of) => of === undefined || of.returning > 0)) return false;
    const back = books.flatMap(
      (of) => of?.made.filter(({ status }) => CAME_BACK.has(status)) ?? [],
    );
    const rows = await operate(({ ledger }) => ledger.rows({ limit: 100_000 }));
    const paid = new Set(
      rows?.flatMap(({ madeId, standing }) => (standing === "completed" ? [madeId] : [])),
    );
    return rows !== undefined && !back.some(({ id }) => paid.has(id));
  };
  const returning = AbortSignal.any([signal, AbortSignal.timeout(RETURNED_WITHIN_MS)]);
  await until(areSeen, returning, COUNT_EVERY_MS);
};

/**
 * Waits until no write of the ledger is on its way or unknown, and no payout under way: the tracker settles what ended runs
 * have left. A payout that it does not follow is found by the comparison of reports.
 */
export const awaitSettled = async (
  { operate, signal }: Campaign,
  retryAnswered: () => Promise<void>,
): Promise<void> => {
  const isSettled = async () => {
    await retryAnswered();
    const states = ["sending", "unknown", "asking"] as const;
    const open = await operate(async ({ accounts, ledger }) => ({
      rows: await ledger.rows({ states }),
      // Payments of ended runs that a restored ledger may have forgotten become rows when they are settled.
      forgotten: await Promise.all(accounts.map(({ hash }) => ledger.forgottenRuns(hash, 1))),
    }));
    if (open === undefined || open.forgotten.flat().length > 0) return false;
    // A beneficiary of an ended run may stay unknown: it moves no money, and the next run creates it again.
    return open.rows.every(({ operation }) => operation === "createBeneficiary");
  };
  await until(isSettled, signal, COUNT_EVERY_MS);
  const isCompleted = async () => {
    const open = await operate(({ accounts, ledger }) =>
      Promise.all(accounts.map(({ hash }) => ledger.openPayouts(hash, 1))),
    );
    return open?.flat().length === 0;
  };
  const completing = AbortSignal.any([signal, AbortSignal.timeout(COMPLETED_WITHIN_MS)]);
  await until(isCompleted, completing, COUNT_EVERY_MS);
};
