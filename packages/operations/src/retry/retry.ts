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
import { checkActing } from "../acting.ts";
import { expectKeys } from "../connection/expect-keys.ts";
import { changing } from "../connection/changing.ts";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput, type Refused, refused } from "../errors.ts";
import { batchStateOf } from "../runs/batch-state.ts";
import { describeExpected } from "../runs/state.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { planRetry, type RetryOptions, type RetryPlan } from "./plan.ts";
import { readRun } from "../history/read-run.ts";
import { awaitWorkersWord } from "./worker-word.ts";

/** A run that was retried, or would be. */
export interface RetriedRun {
  readonly workflowId: string;
  /** The run that had ended. */
  readonly endedRunId: string;
  /** The run that goes on; null where nothing was done. */
  readonly runId: string | null;
  readonly plan: RetryPlan;
}

/** An instruction that no run takes up, because the tool was killed before it asked for the reset. */
const INSTRUCTION_KEPT = "30 days";

const {
  RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
  RESET_REAPPLY_EXCLUDE_TYPE_NEXUS,
  RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
  RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
} = proto.temporal.api.enums.v1.ResetReapplyExcludeType;

/**
 * What was signalled to the run that failed may not hold any more, and a request to cancel it is not one
 * to cancel its retry; what people decided still holds.
 */
const NOT_REAPPLIED = [
  RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
  RESET_REAPPLY_EXCLUDE_TYPE_NEXUS,
  RESET_REAPPLY_EXCLUDE_TYPE_CANCEL_REQUEST,
];

/** Why a run cannot be retried as it stands, or undefined where it can. */
const whyNot = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<Refused | undefined> => {
  const { status, workflowId } = run;
  if ((await batchStateOf(temporal, run)) === "cancelled" && status.name === "COMPLETED") {
    return refused(
      `The batch ${workflowId} was cancelled: no retry goes on with it. Import its file again to pay the rows that it left out. Nothing was done.`,
      { operation: "describeBatch", workflowId },
    );
  }
  switch (status.name) {
    case "RUNNING":
    case "CONTINUED_AS_NEW":
    case "PAUSED":
      return refused(
        `The run ${workflowId} is under way: there is nothing to retry. Nothing was done.`,
        { operation: "describe", workflowId },
      );
    case "COMPLETED":
      return refused(
        `The run ${workflowId} has completed: there is nothing to retry. Nothing was done.`,
      );
    default:
      return undefined;
  }
};

/**
 * Read what a run has done, and plan how it is retried. Nothing is changed.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run; the latest of that id is planned for.
 * @param options from which step, with which amendment, and what becomes of people's decisions.
 * @returns the run, what all runs of its id have done, and the plan.
 * @throws NotFound where there is no such run; Refused where it has not failed or is not the expected one,
 *   or a retry might do something twice; InvalidInput where step, amendment, name or reason are wrong; EndedByPerson where a person has
 *   ended it and that is not overruled.
 * @example
 * const { plan, run } = await planRetryOf(temporal, "invoice-2026-006", options);
 * console.log(plan.from, plan.again);
 * await retryRun(temporal, "invoice-2026-006", { ...options, expectedRunId: run.runId });
 */
export const planRetryOf = async (
  temporal: Temporal,
  workflowId: string,
  options: RetryOptions,
): Promise<{
  readonly run: WorkflowExecutionDescription;
  readonly executed: ExecutionHistory;
  readonly plan: RetryPlan;
}> => {
  checkActing(options);
  const run = await describeExpected(temporal, workflowId, options.expectedRunId);
  const fault = await whyNot(temporal, run);
  if (fault !== undefined) throw fault;
  const executed = await readExecutionHistory(temporal, run);
  return { run, executed, plan: planRetry(run, executed, options) };
};

/**
 * Retry a run that has ended badly: leave the instruction, then reset the run. The run that the reset
 * makes finds its instruction by the reset's reason, and reads it before it does anything: there is no
 * moment at which it could go on without. What was sent and has no known outcome is reconciled before
 * anything is sent again.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run; the latest of that id is retried.
 * @param options as of {@link planRetryOf}.
 * @returns the run that had ended, the run that goes on, and the plan.
 * @throws as {@link planRetryOf}; InvalidInput where its worker refuses the amendment of a workflow that is not this
 *   project's: the run has ended again, and nothing was sent; Refused where somebody else has retried it meanwhile.
 * @example
 * await retryRun(temporal, "invoice-2026-007", {
 *   by: "Bob",
 *   reason: "wrong amount",
 *   from: undefined,
 *   patch: { payout: { amount: "20.00" } },
 *   assumptions: defaultAssumptions,
 *   decisions: "keep",
 * });
 */
export const retryRun = async (
  temporal: Temporal,
  workflowId: string,
  options: RetryOptions,
): Promise<RetriedRun> => {
  const { executed, plan, run } = await planRetryOf(temporal, workflowId, options);
  const { client } = temporal;
  const { by, reason } = options;
  const resetTo = executed.steps.find(({ name }) => name === plan.from)?.taskEnd ?? null;
  const instructionId = instructionIdFor(run.runId, randomUUID());
  const about = {
    mayBe: `The run ${workflowId} may have been retried`,
    next: { operation: "timeline", workflowId },
  } as const;
  await expectKeys(temporal);
  const instruction = await changing(temporal, about, () =>
    client.workflow.start(RETRY_INSTRUCTION_TYPE, {
      workflowId: instructionId,
      taskQueue: retryInstructionQueue(run.taskQueue),
      args: [plan.instruction],
      workflowExecutionTimeout: INSTRUCTION_KEPT,
      staticSummary: `${by} has ${workflowId} retried from ${plan.from}`,
      staticDetails:
        "Tells the retried run what stays done, and does nothing. It times out by itself: that is no failure. docs/repair.md",
    }),
  );
  const { reset, runId } = await changing(temporal, about, async () => {
    const made = await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId: run.runId },
      reason: resetReason(`${reason} (${by})`, instructionId),
      workflowTaskFinishEventId: resetTo,
      // A run is retried once, whoever asks for it again: a second request gets the run of the first.
      requestId: `retry-${run.runId}`,
      resetReapplyExcludeTypes: [
        ...NOT_REAPPLIED,
        // An approval or a rejection of before is not given again to a run that asks anew.
        ...(plan.overruled.length > 0 ? [RESET_REAPPLY_EXCLUDE_TYPE_UPDATE] : []),
      ],
    });
    const handle = client.workflow.getHandle(workflowId, made.runId);
    return { runId: made.runId, reset: readRun(await handle.fetchHistory()).reset };
  });
  if (instructionIdOf(reset?.reason ?? "") !== instructionId) {
    await instruction.terminate("Another retry came first.");
    throw refused(
      `The run ${workflowId} was retried by somebody else meanwhile. Nothing was done.`,
      { operation: "timeline", workflowId },
    );
  }
  const faults =
    plan.instruction.fixed === undefined
      ? []
      : ((await awaitWorkersWord(temporal, workflowId, runId)) ?? []);
  if (faults.length > 0) {
    throw invalidInput(
      `The amendment is wrong, as the worker of ${workflowId} says: the run has ended again. Nothing was sent, and nothing undone.`,
      faults,
      { operation: "retry", workflowId, amend: true },
    );
  }
  return { workflowId, endedRunId: run.runId, runId, plan };
};
