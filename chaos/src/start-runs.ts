import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { queryTexts, WORKFLOW } from "@durable-payments/protocol";
import { delay } from "./delay.ts";
import { type Environment, TASK_QUEUE } from "./environment/environment.ts";
import { callUntilAnswered } from "./environment/temporal-calls.ts";
import type { PlannedRun } from "./plan/planned-run.ts";

/** The workflow type of each kind of planned run; `payTwice` is that of src/worker/pay-twice.ts. */
const WORKFLOW_TYPES: Readonly<Record<PlannedRun["kind"], string>> = {
  payout: WORKFLOW.payout,
  payTwice: "payTwice",
  onboarding: WORKFLOW.onboardCardholder,
};

/**
 * Start a run, again and again until the server has confirmed it: there is exactly one of its id.
 *
 * @returns whether this call started it; undefined where the signal was aborted before.
 */
const start = async (
  environment: Environment,
  run: PlannedRun,
  signal: AbortSignal,
): Promise<boolean | undefined> =>
  await callUntilAnswered(environment, signal, async (client) => {
    try {
      await client.workflow.start(WORKFLOW_TYPES[run.kind], {
        workflowId: run.workflowId,
        taskQueue: TASK_QUEUE,
        args: [run.input],
        workflowIdReusePolicy: "REJECT_DUPLICATE",
        workflowIdConflictPolicy: "FAIL",
      });
    } catch (error) {
      // Perhaps by an attempt before this one, whose answer was lost.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return false;
    }
    return true;
  });

/**
 * Start runs once more, as people do who find that Temporal has forgotten them; those that it knows
 * go on as they are.
 *
 * @returns how many it had forgotten.
 */
export const startForgotten = async (
  environment: Environment,
  runs: readonly PlannedRun[],
  signal: AbortSignal,
): Promise<number> => {
  let forgotten = 0;
  for (const run of runs) if ((await start(environment, run, signal)) === true) forgotten += 1;
  return forgotten;
};

/** Start all runs, each at its time; those of the same moment at once. */
export const startRuns = async (
  environment: Environment,
  runs: readonly PlannedRun[],
  {
    beforeAlike,
    onStarted,
    signal,
  }: {
    /** Called once for runs that are alike, before they start. */
    readonly beforeAlike: (one: PlannedRun) => Promise<void>;
    readonly onStarted: (run: PlannedRun) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> => {
  const begin = Date.now();
  await Promise.all(
    runs.map(async (run, index) => {
      await delay(begin + run.startAtMs - Date.now(), signal);
      const isFirst = runs[index - 1]?.startAtMs !== run.startAtMs;
      if (run.alike > 1 && isFirst && !signal.aborted) await beforeAlike(run);
      if (!signal.aborted && (await start(environment, run, signal)) !== undefined) onStarted(run);
    }),
  );
};

const COUNT_EVERY_MS = 1_000;

/** Visibility lags: so many counts in a row must find no open run. */
const COUNTS = 3;

/** Wait until no run is open any more. */
export const awaitNoOpenRuns = async (
  environment: Environment,
  {
    areAllStarted,
    onCount,
    signal,
  }: {
    readonly areAllStarted: () => boolean;
    readonly onCount: (open: number) => void;
    readonly signal: AbortSignal;
  },
): Promise<void> => {
  // Not the sign-in leases, which end by themselves.
  const query = `ExecutionStatus = "Running" AND WorkflowType IN ${queryTexts(Object.values(WORKFLOW_TYPES))}`;
  for (let zeros = 0; zeros < COUNTS && !signal.aborted;) {
    await delay(COUNT_EVERY_MS, signal);
    const hasStarted = areAllStarted();
    const counted = await callUntilAnswered(environment, signal, (client) =>
      client.workflow.count(query),
    );
    if (counted === undefined) return;
    onCount(counted.count);
    zeros = hasStarted && counted.count === 0 ? zeros + 1 : 0;
  }
};
