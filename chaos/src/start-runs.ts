import { startPaymentAt } from "@durable-payments/control/start";
import { OPEN_RUNS } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import type { Campaign } from "./campaign.ts";
import { delay, until } from "./delay.ts";
import { TASK_QUEUE } from "./environment/environment.ts";
import type { PlannedRun } from "./plan/planned-run.ts";

/** The workflow type of each kind of planned run; `payTwice` is that of src/worker/pay-twice.ts. */
export const WORKFLOW_TYPES: Readonly<Record<PlannedRun["kind"], string>> = {
  payout: "payout",
  payTwice: "payTwice",
  onboarding: "onboardCardholder",
};

/** The person who starts runs, and so cannot approve them. */
const STARTER = "ada";

/**
 * Starts a run as the project's client does, again and again until Temporal has confirmed it.
 *
 * @returns whether this call started it; undefined if the signal was aborted first.
 */
const start = (
  { environment, signal }: Campaign,
  { input, kind, workflowId }: PlannedRun,
): Promise<boolean | undefined> =>
  environment.operate(async ({ account, client, ledger }) => {
    try {
      await startPaymentAt(Date.now(), client, WORKFLOW_TYPES[kind], {
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
  }, signal);

/** Starts runs once more, as people do who find that Temporal has forgotten them. */
export const startForgotten = async (
  campaign: Campaign,
  runs: ReadonlyArray<PlannedRun>,
): Promise<void> => {
  for (const run of runs) {
    if ((await start(campaign, run)) === true) campaign.tally.add("forgotten by Temporal");
  }
};

/** Starts all runs, each at its time; those of the same moment at once. */
export const startRuns = async (
  campaign: Campaign,
  {
    beforeAlike,
    onStarted,
  }: {
    /** Called once for runs that are alike, before they start. */
    readonly beforeAlike: (one: PlannedRun) => Promise<void>;
    readonly onStarted: (run: PlannedRun) => void;
  },
): Promise<void> => {
  const { runs, signal } = campaign;
  const begin = Date.now();
  await Promise.all(
    runs.map(async (run, index) => {
      await delay(begin + run.startAtMs - Date.now(), signal);
      const isFirst = runs[index - 1]?.startAtMs !== run.startAtMs;
      if (run.alike > 1 && isFirst && !signal.aborted) await beforeAlike(run);
      if (!signal.aborted && (await start(campaign, run)) !== undefined) onStarted(run);
    }),
  );
};

const COUNT_EVERY_MS = 1_000;

/** Visibility lags: so many counts in a row must find no open run. */
const COUNTS = 3;

/** Waits until no run is open any more. */
export const awaitNoOpenRuns = async (
  { environment, signal }: Campaign,
  areAllStarted: () => boolean,
  onCount: (open: number) => void,
): Promise<void> => {
  const types = Object.values(WORKFLOW_TYPES).map((type) => `"${type}"`);
  const query = `${OPEN_RUNS} AND WorkflowType IN (${types.join(", ")})`;
  for (let zeros = 0; zeros < COUNTS && !signal.aborted;) {
    await delay(COUNT_EVERY_MS, signal);
    const hasStarted = areAllStarted();
    const counted = await environment.operate(({ client }) => client.workflow.count(query), signal);
    if (counted === undefined) return;
    onCount(counted.count);
    zeros = hasStarted && counted.count === 0 ? zeros + 1 : 0;
  }
};

/** Waits until no write of the ledger is on its way or unknown: the tracker settles what ended runs have left. */
export const awaitSettled = async ({ environment, signal }: Campaign): Promise<void> => {
  const isSettled = async () => {
    const states = ["sending", "unknown", "asking"] as const;
    const rows = await environment.operate(({ ledger }) => ledger.rows({ states }), signal);
    // A beneficiary of an ended run may stay unknown: it moves no money, and the next run creates it again.
    return rows?.every(({ operation }) => operation === "createBeneficiary") ?? false;
  };
  await until(isSettled, signal, COUNT_EVERY_MS);
};
