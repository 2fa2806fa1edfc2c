import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { pause } from "../delay.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { TASK_QUEUE, type World } from "./environment.ts";

/** The workflow that a planned run is an execution of. */
export const WORKFLOWS: Readonly<Record<PlannedRun["kind"], string>> = {
  payout: "payout",
  payTwice: "payTwice",
  onboarding: "onboardCardholder",
};

const CALL_WITHIN_MS = 8_000;

/** Whether an error is one of a server that is away, or of workers that are; the call is repeated. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceError ||
  error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
  error instanceof QueryNotRegisteredError ||
  isGrpcServiceError(error);

/** One call to the server, which ends soon whatever becomes of the server. */
export const call = async <A>(
  { client, connection }: World,
  ask: (client: Client) => Promise<A>,
): Promise<A> => await connection.withDeadline(Date.now() + CALL_WITHIN_MS, () => ask(client));

/** Calls until there is an answer; undefined when it is over before. */
export const callUntilAnswered = async <A>(
  world: World,
  over: AbortSignal,
  ask: (client: Client) => Promise<A>,
): Promise<A | undefined> => {
  while (!over.aborted) {
    try {
      return await call(world, ask);
    } catch (error) {
      if (!isPassing(error)) throw error;
      await pause(300, over);
    }
  }
  return undefined;
};

/**
 * Starts a run until it is known that it was started: exactly one of its id.
 *
 * @returns whether this call started it; undefined when it is over before.
 */
const start = async (
  world: World,
  run: PlannedRun,
  over: AbortSignal,
): Promise<boolean | undefined> =>
  await callUntilAnswered(world, over, async (client) => {
    try {
      await client.workflow.start(WORKFLOWS[run.kind], {
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
 * Starts runs once more, as people do who find that Temporal has forgotten them; those that it knows
 * go on as they are.
 *
 * @returns how many it had forgotten.
 */
export const startAgain = async (
  world: World,
  runs: readonly PlannedRun[],
  over: AbortSignal,
): Promise<number> => {
  let forgotten = 0;
  for (const run of runs) if ((await start(world, run, over)) === true) forgotten += 1;
  return forgotten;
};

/** Starts all runs, each at its time; those of the same moment at once. */
export const startRuns = async (
  world: World,
  runs: readonly PlannedRun[],
  {
    beforeAlike,
    onStarted,
    over,
  }: {
    /** Called once for runs that are alike, before they start. */
    readonly beforeAlike: (one: PlannedRun) => Promise<void>;
    readonly onStarted: (run: PlannedRun) => void;
    readonly over: AbortSignal;
  },
): Promise<void> => {
  const begin = Date.now();
  await Promise.all(
    runs.map(async (run, index) => {
      await pause(begin + run.startAtMs - Date.now(), over);
      const isFirst = runs[index - 1]?.startAtMs !== run.startAtMs;
      if (run.alike > 1 && isFirst && !over.aborted) await beforeAlike(run);
      if (!over.aborted && (await start(world, run, over)) !== undefined) onStarted(run);
    }),
  );
};

const LOOK_EVERY_MS = 1_000;

/** Visibility lags: so often in a row nothing may be open. */
const LOOKS = 3;

/** Awaits that no run is open any more. */
export const awaitEnds = async (
  world: World,
  {
    isBegun,
    onLook,
    over,
  }: {
    /** Whether all that is to end has been started. */
    readonly isBegun: () => boolean;
    readonly onLook: (open: number) => void;
    readonly over: AbortSignal;
  },
): Promise<void> => {
  // Not the permits to sign in, which end by themselves.
  const types = Object.values(WORKFLOWS).map((type) => `"${type}"`);
  const query = `ExecutionStatus = "Running" AND WorkflowType IN (${types.join(", ")})`;
  for (let quiet = 0; quiet < LOOKS && !over.aborted;) {
    await pause(LOOK_EVERY_MS, over);
    const hasBegun = isBegun();
    const counted = await callUntilAnswered(world, over, (client) => client.workflow.count(query));
    if (counted === undefined) return;
    onLook(counted.count);
    quiet = hasBegun && counted.count === 0 ? quiet + 1 : 0;
  }
};
