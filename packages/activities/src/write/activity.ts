import {
  grownWait,
  LedgerUnavailable,
  type Limits,
  type Root,
  type WriteName,
} from "@durable-payments/ledger";
import type { UndoCall, WriteAnswer, WriteCall } from "@durable-payments/protocol/calls";
import { makeAgreement } from "./believed.ts";
import type { Attempt } from "./guard.ts";
import { type EngineOptions, isListed, writeNames } from "./operation.ts";
import { NotYet, StepFailed } from "./outcomes.ts";
import { performWrite, settleRow, undoWrite } from "./perform.ts";
import type { RunOfId } from "../retry/continue-run.ts";
import { type AccountOptions, notYet, optionsOf } from "../run-operation.ts";
import { makeContractOperations } from "./contract-operations.ts";
import { makeOwnOperation, type OwnOperations } from "./own-operations.ts";
import { operation as contractOf } from "@durable-payments/client/contract";
import { messageOf } from "@durable-payments/client/values";
import { isNotFound, isOpenStatus } from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { Client } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { setTimeout as sleep } from "node:timers/promises";

/** A cancellation arrives with the answer to a heartbeat. */
const HEARTBEAT_EVERY_MS = 3_000;

/**
 * Temporal may still be answering a heartbeat when an attempt ends. The SDK takes that answer for the one to the last
 * heartbeat, and reports the end before that has arrived: the version would be lost, and the write be reconciled for minutes.
 */
const HEARTBEAT_ANSWERED_MS = 2_000;

/**
 * A first attempt that is scheduled so long after its activity follows a reset of the activity. Temporal's time-skipping test
 * server reads its clock once for the activity, and again for the attempt: any first attempt may be milliseconds late. No ledger
 * is restored, or fails over, within this time.
 */
const RESET_AFTER_MS = 1_000;

/** Dependencies of the activities of writes. */
interface WriteActivityOptions extends AccountOptions {
  readonly operations: OwnOperations;
  /** The worker's own limits: they only tighten those of the account. */
  readonly limits?: Limits | undefined;
}

/** Details that an attempt leaves for the next one: the version of the row with nothing sent; 0 without a row. */
interface Left {
  readonly attempt: number;
  readonly version: number;
}

type Testified = Pick<WriteCall, "call" | "isFirst" | "runId" | "version">;

const testimonyOfVersion = (version: number): Attempt["testimony"] =>
  version === 0 ? { is: "none" } : { is: "version", version };

/**
 * Returns Temporal's word about a row: from the input on the first attempt, from the details of the earlier attempt on
 * any other. An activity that works in another run than its scheduling run knows nothing. Nor does an activity reset by
 * Temporal's own tools: its attempts are counted from one again, whatever the earlier ones have sent.
 */
export const testimonyOf = (
  { call, isFirst, runId, version }: Testified,
  info: {
    readonly attempt: number;
    readonly runId: string;
    readonly heartbeatDetails: unknown;
    readonly scheduledTimestampMs: number;
    readonly currentAttemptScheduledTimestampMs: number;
  },
): Attempt["testimony"] => {
  if (runId !== info.runId) return undefined;
  const lateMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  if (info.attempt === 1 && lateMs >= RESET_AFTER_MS) return undefined;
  if (info.attempt === 1) {
    if (version !== undefined) return testimonyOfVersion(version);
    return call === 1 && isFirst ? { is: "none" } : undefined;
  }
  const left = info.heartbeatDetails as Partial<Left> | undefined;
  // A killed attempt left nothing: the details belong to an earlier one.
  return left?.attempt === info.attempt - 1 && typeof left.version === "number"
    ? testimonyOfVersion(left.version)
    : undefined;
};

/** Reads the root of a run: one request, and one more for a child. The input of an activity may claim any root. */
const readRoot = async (client: Client, { runId, workflowId }: RunOfId): Promise<Root> => {
  const { workflowExecutionInfo: info } = await client.workflowService.describeWorkflowExecution({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
  });
  const { firstRunId, rootExecution } = info ?? {};
  const id = rootExecution?.workflowId || workflowId;
  if (id === workflowId) return { id, firstRunId: firstRunId || runId };
  try {
    return await readRoot(client, { workflowId: id, runId: rootExecution?.runId ?? "" });
  } catch (error) {
    if (isNotFound(error)) return { id, firstRunId: null };
    throw error;
  }
};

const attemptIn = (call: Testified): Attempt => {
  const activity = Context.current();
  const { attempt, workflowExecution } = activity.info;
  const { runId = "", workflowId = "" } = workflowExecution ?? {};
  return {
    runId,
    workflowId,
    workflowType: activity.info.workflowType,
    attempt,
    testimony: testimonyOf(call, { ...activity.info, runId }),
    startedAt: { wall: Date.now(), monotonic: performance.now() },
    signal: activity.cancellationSignal,
    heartbeat: (version) => activity.heartbeat({ attempt, version } satisfies Left),
    root: () => readRoot(activity.client, { workflowId, runId }),
    describe: async () => {
      const { raw, startTime, status } = await activity.client.workflow
        .getHandle(workflowId, runId)
        .describe();
      // A reset keeps the results of the run that it continues.
      const original = raw.workflowExtendedInfo?.originalStartTime;
      return {
        isOpen: isOpenStatus(status.name),
        begunAt: original ? Number(original.seconds) * 1_000 : startTime.getTime(),
      };
    },
  };
};

/** Turns errors of the engine into failures of Temporal. */
const failureOf = (error: unknown, attempt: Attempt): unknown => {
  if (error instanceof StepFailed) {
    const { details, message, type } = error;
    return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
  }
  const isLedger = error instanceof LedgerUnavailable;
  if (!(error instanceof NotYet) && !isLedger) return error;
  if (error instanceof NotYet && error.version !== undefined) attempt.heartbeat(error.version);
  return notYet(messageOf(error), isLedger ? grownWait(attempt.attempt) : error.delayMs);
};

/** Runs within an activity with heartbeats, so that a lost worker is noticed and a cancellation arrives. */
const inActivity = async <A>(call: Testified, run: (attempt: Attempt) => Promise<A>) => {
  const attempt = attemptIn(call);
  const activity = Context.current();
  let beatAt = -Infinity;
  const heart = setInterval(() => {
    beatAt = performance.now();
    activity.heartbeat();
  }, HEARTBEAT_EVERY_MS);
  try {
    return await run(attempt).finally(() => clearInterval(heart));
  } catch (error) {
    if (error instanceof NotYet && error.version !== undefined)
      await sleep(Math.max(0, beatAt + HEARTBEAT_ANSWERED_MS - performance.now()));
    throw failureOf(error, attempt);
  }
};

/** The activity of a write. */
export type WriteActivity = (call: WriteCall) => Promise<WriteAnswer>;

/** The attempt of the janitor: it vouches for nothing, and its run has ended. */
const janitorAttempt = (workflowId: string, signal: AbortSignal): Attempt => ({
  runId: "janitor",
  workflowId,
  attempt: 1,
  testimony: undefined,
  startedAt: { wall: Date.now(), monotonic: performance.now() },
  signal,
  heartbeat: () => {},
  // It sends nothing, so it needs no approval.
  root: async () => ({ id: workflowId, firstRunId: null }),
  describe: async () => ({ isOpen: false, begunAt: 0 }),
});

/** Makes the activities of all writes: each step takes effect once, however often its activity is called. */
export const makeWriteActivities = ({
  account: hash,
  ledger,
  limits,
  operations: own,
  runtime,
}: WriteActivityOptions) => {
  const makeEngine = async (): Promise<EngineOptions> => {
    const options = await optionsOf(runtime);
    const account = await hash();
    const ofContract = makeContractOperations({ account, ledger, options, runtime });
    const ofUser = Object.entries(own).map(
      ([name, operation]) => [name, makeOwnOperation(name, operation)] as const,
    );
    const operations = new Map([...ofContract, ...ofUser]);
    const settle = (attempt: Attempt, name: WriteName) => settleRow(made, attempt, name, "close");
    const disagreement = makeAgreement({ account, ledger, runtime, settle });
    const who = `worker ${process.pid}`;
    const made: EngineOptions = { account, ledger, limits, operations, who, disagreement };
    return made;
  };
  let making: Promise<EngineOptions> | undefined;
  const engine = () => (making ??= makeEngine());
  const names = [...writeNames, ...Object.keys(own)];
  const activities = names.map((operation) => {
    const write: WriteActivity = (call) =>
      inActivity(call, async (attempt) =>
        performWrite(await engine(), attempt, { ...call, operation }),
      );
    return [operation, write] as const;
  });
  return {
    /** By activity type: the writes of the contract, the user's own operations, and `undo`. */
    activities: {
      ...Object.fromEntries(activities),
      undo: (call: UndoCall) =>
        inActivity(call, async (attempt) => undoWrite(await engine(), attempt, call)),
    },
    /** The operations whose outcome a list, or the lifetime of a key, determines. */
    settled: [
      ...writeNames.filter((name) => isListed(name) || contractOf(name).idempotency === "keyed"),
      ...Object.entries(own).flatMap(([name, { repeat }]) => (repeat === "idempotent" ? [] : name)),
    ],
    /** As `settleRow`, for the janitor. */
    settle: async (name: WriteName, signal: AbortSignal): Promise<void> => {
      await settleRow(await engine(), janitorAttempt(name.workflowId, signal), name);
    },
  };
};
