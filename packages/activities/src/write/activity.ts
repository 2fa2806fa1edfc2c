import { operation as contractOf } from "@durable-payments/api-core/contract";
import { messageOf } from "@durable-payments/api-core/values";
import { type Ledger, LedgerUnavailable, type WriteName } from "@durable-payments/ledger";
import type { UndoCall, WriteAnswer, WriteCall } from "@durable-payments/protocol/calls";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { accountOf, notYet, optionsOf, type PaymentsRuntime } from "../run-operation.ts";
import { makeContractOperations } from "./contract-operations.ts";
import type { Attempt } from "./guard.ts";
import { type EngineOptions, NotYet, StepFailed } from "./operation.ts";
import { growingWaitMs } from "./outcomes.ts";
import { makeOwnOperation, type OwnOperations } from "./own-operations.ts";
import { performWrite, settleRow, undoWrite } from "./perform.ts";
import { isListed, writeNames } from "./write-facts.ts";

/** A cancellation arrives with the answer to a heartbeat. */
const HEARTBEAT_EVERY_MS = 3_000;

/** What the activities of writes are made of. */
export interface WriteActivityOptions {
  readonly runtime: PaymentsRuntime;
  readonly ledger: Ledger;
  readonly operations: OwnOperations;
}

/** What an attempt leaves for the next one: the version of the row with nothing sent; 0 where there is none. */
interface Left {
  readonly attempt: number;
  readonly version: number;
}

type Testified = Pick<WriteCall, "call" | "isFirst" | "runId" | "version">;

const testimonyOfVersion = (version: number): Attempt["testimony"] =>
  version === 0 ? { is: "none" } : { is: "version", version };

/**
 * Returns what Temporal says of a row: by the input on the first attempt, by what the attempt before has left on any
 * other. An activity that works in another run than the one that scheduled it knows nothing.
 */
export const testimonyOf = (
  { call, isFirst, runId, version }: Testified,
  info: {
    readonly attempt: number;
    readonly runId: string;
    readonly heartbeatDetails: unknown;
  },
): Attempt["testimony"] => {
  if (runId !== info.runId) return undefined;
  if (info.attempt === 1) {
    if (version !== undefined) return testimonyOfVersion(version);
    return call === 1 && isFirst ? { is: "none" } : undefined;
  }
  const left = info.heartbeatDetails as Partial<Left> | undefined;
  // An attempt that was killed has left nothing; what is there then is of one before it.
  return left?.attempt === info.attempt - 1 && typeof left.version === "number"
    ? testimonyOfVersion(left.version)
    : undefined;
};

const attemptIn = (call: Testified): Attempt => {
  const activity = Context.current();
  const { attempt, workflowExecution } = activity.info;
  const heartbeatDetails: unknown = activity.info.heartbeatDetails;
  const { runId = "", workflowId = "" } = workflowExecution ?? {};
  return {
    runId,
    workflowId,
    workflowType: activity.info.workflowType,
    attempt,
    testimony: testimonyOf(call, { attempt, runId, heartbeatDetails }),
    startedAt: { wall: Date.now(), monotonic: performance.now() },
    signal: activity.cancellationSignal,
    heartbeat: (version) => activity.heartbeat({ attempt, version } satisfies Left),
    isRunOpen: async () => {
      const { status } = await activity.client.workflow.getHandle(workflowId, runId).describe();
      return status.name === "RUNNING";
    },
  };
};

/** Turns what the engine throws into what Temporal understands. */
const failureOf = (error: unknown, attempt: Attempt): unknown => {
  if (error instanceof StepFailed) {
    const { details, message, type } = error;
    return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
  }
  const isLedger = error instanceof LedgerUnavailable;
  if (!(error instanceof NotYet) && !isLedger) return error;
  if (error instanceof NotYet && error.version !== undefined) attempt.heartbeat(error.version);
  return notYet(messageOf(error), isLedger ? growingWaitMs(attempt.attempt) : error.delayMs);
};

/** Runs in an activity, which heartbeats meanwhile: a lost worker is noticed, and a cancellation arrives. */
const inActivity = async <A>(
  call: Testified,
  run: (attempt: Attempt) => Promise<A>,
): Promise<A> => {
  const attempt = attemptIn(call);
  const activity = Context.current();
  const heart = setInterval(() => activity.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    return await run(attempt);
  } catch (error) {
    clearInterval(heart);
    throw failureOf(error, attempt);
  } finally {
    clearInterval(heart);
  }
};

/** The activity of a write. */
export type WriteActivity = (call: WriteCall) => Promise<WriteAnswer>;

/** Activities of writes, and what the janitor needs of the engine. */
export interface WriteActivities {
  /** By activity type: the operations of the contract that write, those of a user's own, and `undo`. */
  readonly activities: Readonly<
    Record<string, WriteActivity | ((call: UndoCall) => Promise<WriteAnswer>)>
  >;
  /** The operations whose outcome a list, or the lifetime of a key, settles. */
  readonly settled: ReadonlyArray<string>;
  /** Finds out what became of a row whose run has ended, and sends nothing. Throws as `performWrite`. */
  readonly settleRow: (name: WriteName, attempt: Attempt) => Promise<void>;
}

/** Makes the activities of all writes: each carries out its step once, however often it is called. */
export const makeWriteActivities = ({
  ledger,
  operations: own,
  runtime,
}: WriteActivityOptions): WriteActivities => {
  let made: Promise<EngineOptions> | undefined;
  const engine = (): Promise<EngineOptions> => {
    made ??= (async () => {
      const [account, options] = await Promise.all([accountOf(runtime), optionsOf(runtime)]);
      const ofContract = makeContractOperations({ account, ledger, options, runtime });
      const all = Object.entries(own).map(
        ([name, operation]) => [name, makeOwnOperation(name, operation)] as const,
      );
      const operations = new Map([...ofContract, ...all]);
      return { account, ledger, operations, who: `worker ${process.pid}` };
    })();
    return made;
  };
  const names = [...writeNames, ...Object.keys(own)];
  const activities = names.map((operation) => {
    const write: WriteActivity = (call) =>
      inActivity(call, async (attempt) =>
        performWrite(await engine(), attempt, { ...call, operation }),
      );
    return [operation, write] as const;
  });
  return {
    activities: {
      ...Object.fromEntries(activities),
      undo: (call: UndoCall) =>
        inActivity(call, async (attempt) => undoWrite(await engine(), attempt, call)),
    },
    settled: [
      ...writeNames.filter((name) => isListed(name) || contractOf(name).idempotency === "keyed"),
      ...Object.entries(own).flatMap(([name, { repeat }]) => (repeat === "idempotent" ? [] : name)),
    ],
    settleRow: async (name, attempt) => {
      await settleRow(await engine(), attempt, name);
    },
  };
};
