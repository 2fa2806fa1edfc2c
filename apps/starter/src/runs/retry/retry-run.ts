import {
  instructionIdFor,
  instructionIdOf,
  resetReason,
  RETRY_INSTRUCTION_TYPE,
  retryInstructionQueue,
} from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import proto from "@temporalio/proto";
import { randomUUID } from "node:crypto";
import type { Temporal } from "../../connection/temporal.ts";
import { badInput } from "../../errors.ts";
import { commandLine } from "../../output/command-line.ts";
import { describeRun } from "../run-state.ts";
import { type Past, readPast } from "./past.ts";
import { planRetry, type RetryFlags, type RetryPlan } from "./plan-retry.ts";
import { readRun } from "./read-steps.ts";

/** A run that was retried, or would be. */
export interface RetriedRun {
  readonly workflowId: string;
  /** The run that had ended. */
  readonly endedRunId: string;
  /** The run that goes on; null where nothing was done. */
  readonly runId: string | null;
  readonly plan: RetryPlan;
}

/** An order that no run takes up, because the starter was killed before it asked for the reset. */
const ORDER_KEPT = "30 days";

const {
  RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
  RESET_REAPPLY_EXCLUDE_TYPE_NEXUS,
  RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
  RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
} = proto.temporal.api.enums.v1.ResetReapplyExcludeType;

/**
 * What a signal told the run that failed may not hold any more, and a request to cancel it is not one
 * to cancel its retry; what people decided still holds.
 */
const NOT_REAPPLIED = [
  RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
  RESET_REAPPLY_EXCLUDE_TYPE_NEXUS,
  RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
];

/** Why a run cannot be retried as it stands, or undefined where it can. */
const whyNot = ({ status, workflowId }: WorkflowExecutionDescription): string | undefined => {
  switch (status.name) {
    case "RUNNING":
    case "CONTINUED_AS_NEW":
    case "PAUSED":
      return `The run ${workflowId} is under way: there is nothing to retry. See ${commandLine("status", workflowId)}`;
    case "COMPLETED":
      return `The run ${workflowId} has completed: there is nothing to retry.`;
    default:
      return undefined;
  }
};

/**
 * Reads what a run has done, and plans how it is retried.
 *
 * @throws BadInput where it has not failed, or where a retry might do something twice
 */
export const planRetryOf = async (
  temporal: Temporal,
  workflowId: string,
  flags: RetryFlags,
): Promise<{
  readonly run: WorkflowExecutionDescription;
  readonly past: Past;
  readonly plan: RetryPlan;
}> => {
  const run = await describeRun(temporal, workflowId);
  const fault = whyNot(run);
  if (fault !== undefined) throw badInput(`${fault} Nothing was done.`);
  const past = await readPast(temporal, run);
  return { run, past, plan: planRetry(run, past, flags) };
};

/**
 * Retries a run that has ended badly: places the order, then resets the run. The run that the reset
 * makes finds its order by the reset's reason, and reads it before it does anything: there is no
 * moment at which it could go on without.
 *
 * @throws BadInput where it cannot be retried, or was retried by somebody else meanwhile
 */
export const retryRun = async (
  temporal: Temporal,
  workflowId: string,
  flags: RetryFlags,
): Promise<RetriedRun> => {
  const { past, plan, run } = await planRetryOf(temporal, workflowId, flags);
  const { client } = temporal;
  const { by, reason } = flags;
  const resetTo = past.steps.find(({ name }) => name === plan.from)?.taskEnd ?? null;
  const orderId = instructionIdFor(run.runId, randomUUID());
  const order = await client.workflow.start(RETRY_INSTRUCTION_TYPE, {
    workflowId: orderId,
    taskQueue: retryInstructionQueue(run.taskQueue),
    args: [plan.order],
    workflowExecutionTimeout: ORDER_KEPT,
    staticSummary: `${by} has ${workflowId} retried from ${plan.from}`,
  });
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId: run.runId },
    reason: resetReason(`${reason} (${by})`, orderId),
    workflowTaskFinishEventId: resetTo,
    // A run is retried once, whoever asks for it again: a second request gets the run of the first.
    requestId: `retry-${run.runId}`,
    resetReapplyExcludeTypes: [
      ...NOT_REAPPLIED,
      // An approval or a rejection of before is not given again to a run that asks anew.
      ...(plan.overruled.length > 0 ? [RESET_REAPPLY_EXCLUDE_TYPE_UPDATE] : []),
    ],
  });
  const { reset } = readRun(await client.workflow.getHandle(workflowId, runId).fetchHistory());
  if (instructionIdOf(reset?.reason ?? "") !== orderId) {
    await order.terminate("Another retry came first.");
    throw badInput(
      `The run ${workflowId} was retried by somebody else meanwhile: see ${commandLine("runs", "show", workflowId)}. Nothing was done.`,
    );
  }
  return { workflowId, endedRunId: run.runId, runId, plan };
};
