import { PAYMENT_IN_DOUBT } from "@durable-payments/protocol";
import type { StepInDoubt } from "@durable-payments/workflows";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import * as Effect from "effect/Effect";
import type { Temporal } from "../connection/temporal.ts";
import type { NextOperation } from "../errors.ts";
import { readRetryOf, unsettledSteps } from "../history/in-doubt.ts";
import { describeRun } from "../runs/state.ts";

/** A run that has ended while nobody knows what became of what some of its steps have sent. */
export interface RunInDoubt {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly startedAt: string;
  readonly closedAt: string | null;
  readonly inDoubt: ReadonlyArray<StepInDoubt>;
  /** How it is retried; left out where it cannot be. */
  readonly retry?: NextOperation & { readonly operation: "retry" };
}

const ENDED_IN_DOUBT = `${PAYMENT_IN_DOUBT.name} IS NOT NULL AND ExecutionStatus != "Running" AND ExecutionStatus != "ContinuedAsNew"`;

const ASKED_AT_ONCE = 8;

/**
 * List the ended runs that are in doubt until a person has settled them, or a retry goes on with them.
 *
 * @param temporal the connection of `withTemporal`.
 * @returns the runs, each with the steps whose sends may have been carried out.
 */
export const listRunsInDoubt = async (temporal: Temporal): Promise<ReadonlyArray<RunInDoubt>> => {
  const runs: Array<WorkflowExecutionInfo> = [];
  for await (const run of temporal.client.workflow.list({ query: ENDED_IN_DOUBT })) runs.push(run);
  const found = await Effect.runPromise(
    Effect.forEach(
      runs,
      ({ runId, workflowId }) =>
        Effect.promise(async (): Promise<ReadonlyArray<RunInDoubt>> => {
          const latest = await describeRun(temporal, workflowId);
          if (latest.runId !== runId) return [];
          const inDoubt = await unsettledSteps(temporal, latest);
          if (inDoubt.length === 0) return [];
          const { closeTime, startTime, type } = latest;
          const retry = await readRetryOf(temporal, latest);
          return [
            {
              workflowId,
              runId,
              type,
              startedAt: startTime.toISOString(),
              closedAt: closeTime?.toISOString() ?? null,
              inDoubt,
              ...(retry !== undefined && { retry }),
            },
          ];
        }),
      { concurrency: ASKED_AT_ONCE },
    ),
  );
  return found.flat();
};
