import { messageOf } from "@durable-payments/api-core/values";
import { PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import { asTemporalError, isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { DoubtedStep } from "../history/doubted-step.ts";
import { unsettledSteps } from "../history/in-doubt.ts";
import { type NextRetry, readRetryOf } from "../retry/way.ts";
import { describeRun } from "../runs/state.ts";
import { type StateName, stateNameOf } from "../runs/state-name.ts";

/** A run that has ended while nobody knows what became of what some of its steps have sent. */
export interface RunInDoubt {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly state: StateName;
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
  /** Why it cannot be read now, so that nobody knows which steps; mostly left out. */
  readonly unread?: string;
  /** How it is retried; left out where it cannot be. */
  readonly retry?: NextRetry;
}

const ENDED_IN_DOUBT = `${PAYMENT_IN_DOUBT.name} IS NOT NULL AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"`;

const ASKED_AT_ONCE = 8;

const read = async (
  temporal: Temporal,
  { runId, workflowId }: WorkflowExecutionInfo,
): Promise<ReadonlyArray<RunInDoubt>> => {
  const latest = await describeRun(temporal, workflowId);
  if (latest.runId !== runId) return [];
  const inDoubt = await unsettledSteps(temporal, latest);
  if (inDoubt.length === 0) return [];
  const retry = await readRetryOf(temporal, latest);
  return [{ ...describedOf(latest), inDoubt, ...(retry !== undefined && { retry }) }];
};

type Listed = Pick<
  WorkflowExecutionInfo,
  "closeTime" | "runId" | "startTime" | "status" | "type" | "typedSearchAttributes" | "workflowId"
>;

const describedOf = (run: Listed): Omit<RunInDoubt, "inDoubt"> => ({
  workflowId: run.workflowId,
  runId: run.runId,
  type: run.type,
  state: stateNameOf(run),
  startedAt: run.startTime.toISOString(),
  closedAt: run.closeTime?.toISOString() ?? null,
});

/** One that cannot be read hides none of the others; where Temporal is away, nothing is known of any. */
const readOrName = async (
  temporal: Temporal,
  run: WorkflowExecutionInfo,
): Promise<ReadonlyArray<RunInDoubt>> => {
  try {
    return await read(temporal, run);
  } catch (error) {
    if (isNoAnswer(error)) throw error;
    return [
      {
        ...describedOf(run),
        inDoubt: [],
        unread: messageOf(asTemporalError(error, temporal.settings)),
      },
    ];
  }
};

/**
 * List the ended runs that are in doubt until a person has settled them, or a retry goes on with them.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the runs, each with the steps whose sends may have been carried out; one that cannot be read is
 *   listed with the reason.
 */
export const listRunsInDoubt = async (temporal: Temporal): Promise<ReadonlyArray<RunInDoubt>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query: ENDED_IN_DOUBT })) runs.push(run);
  const found = await Effect.runPromise(
    Effect.forEach(runs, (run) => Effect.promise(() => readOrName(temporal, run)), {
      concurrency: ASKED_AT_ONCE,
    }),
  );
  return found.flat();
};
