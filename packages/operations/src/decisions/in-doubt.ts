import { messageOf } from "@durable-payments/api-core/values";
import { PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import { asTemporalError, isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import type { DoubtedStep } from "../history/doubted-step.ts";
import { openDoubts } from "../history/in-doubt.ts";
import { type NextRetry, readRetryOf } from "../retry/way.ts";
import { describeRun } from "../runs/state.ts";
import { type StateName, stateNameOf } from "../runs/state-name.ts";

/** A run that has ended while nobody knows what became of what some of its steps have sent. */
export interface RunInDoubt {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly state: StateName | "continuedAsNew";
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
  /** Why it cannot be read now, so that nobody knows which steps; mostly left out. */
  readonly unread?: string;
  /** Another run of its id has begun since, which does not go on with it: none retries it. Left out for the latest. */
  readonly isEarlier?: true;
  /** How it is retried; left out where it cannot be. */
  readonly retry?: NextRetry;
}

const ENDED_IN_DOUBT = `${PAYMENT_IN_DOUBT.name} IS NOT NULL AND ExecutionStatus != "Running"`;

const ASKED_AT_ONCE = 8;

const read = async (
  temporal: Temporal,
  { runId, workflowId }: WorkflowExecutionInfo,
): Promise<ReadonlyArray<RunInDoubt>> => {
  const run = await describeRun(temporal, workflowId, runId);
  const { inDoubt, standing } = await openDoubts(temporal, run);
  if (inDoubt.length === 0) return [];
  if (standing === "earlier") return [{ ...describedOf(run), inDoubt, isEarlier: true }];
  const retry = await readRetryOf(temporal, run);
  return [{ ...describedOf(run), inDoubt, ...(retry !== undefined && { retry }) }];
};

type Listed = Pick<
  WorkflowExecutionInfo,
  "closeTime" | "runId" | "startTime" | "status" | "type" | "typedSearchAttributes" | "workflowId"
>;

const describedOf = (run: Listed): Omit<RunInDoubt, "inDoubt"> => ({
  workflowId: run.workflowId,
  runId: run.runId,
  type: run.type,
  state: run.status.name === "CONTINUED_AS_NEW" ? "continuedAsNew" : stateNameOf(run),
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
 * List the ended runs that are in doubt until a person has settled them, or a retry goes on with them:
 * of the runs of one workflow id each that is, whatever began after it.
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
