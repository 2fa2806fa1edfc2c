import { WorkflowNotFoundError } from "@temporalio/client";
import { checkActing } from "../acting.ts";
import type { Temporal } from "../connection/temporal.ts";
import { refused } from "../errors.ts";
import { isRecord } from "@durable-payments/api-core/values";
import type { StepInDoubt } from "@durable-payments/workflows";
import { stepsInDoubt } from "../history/in-doubt.ts";
import { readExecutionHistory } from "../history/execution-history.ts";
import { describeExpected, isUnderWay } from "../runs/state.ts";

/** Who ends a run, and why. */
export interface EndOptions {
  readonly by: string;
  readonly reason: string;
  /** The run that they have seen: where it is not the latest any more nothing is done. */
  readonly expectedRunId?: string | undefined;
}

const ended = (workflowId: string): Error =>
  refused(`The run ${workflowId} has ended. Nothing was done.`);

const openRun = async (
  temporal: Temporal,
  workflowId: string,
  { expectedRunId }: Pick<EndOptions, "expectedRunId">,
) => {
  const run = await describeExpected(temporal, workflowId, expectedRunId);
  if (!isUnderWay(run)) throw ended(workflowId);
  return run;
};

const orEnded = async <A>(workflowId: string, act: Promise<A>): Promise<A> => {
  try {
    return await act;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw ended(workflowId);
    throw error;
  }
};

/**
 * Ask a run to end. It ends by itself, when it is known what became of what it has sent. No money is
 * called back.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param options who asks, and why; both are kept.
 * @returns the run id, and whether the run was started to undo what it has done.
 * @throws InvalidInput where name or reason are empty; NotFound where there is no such run; Refused where it
 *   has ended, or is not the expected one.
 * @example
 * const { undoes } = await cancelRun(temporal, "invoice-2026-001", { by: "Ada", reason: "paid by hand" });
 */
export const cancelRun = async (
  temporal: Temporal,
  workflowId: string,
  { by, expectedRunId, reason }: EndOptions,
): Promise<{ readonly runId: string; readonly undoes: boolean }> => {
  checkActing({ by, reason });
  const run = await openRun(temporal, workflowId, { expectedRunId });
  const { startedWith } = await readExecutionHistory(temporal, run);
  const { client } = temporal;
  await orEnded(
    workflowId,
    client.workflowService.requestCancelWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId: run.runId },
      reason: `${reason} (${by})`,
      identity: by,
      // A second request for the same run is the same request.
      requestId: `cancel-${run.runId}`,
    }),
  );
  const options = isRecord(startedWith) ? startedWith["options"] : undefined;
  return {
    runId: run.runId,
    undoes: isRecord(options) && options["onFailure"] === "compensate",
  };
};

/**
 * End a run at once: its own code is not asked, so that nothing is undone or reconciled. Cancel it
 * instead where it still answers.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the run.
 * @param options who ends it, and why; both are kept.
 * @returns the run id, and the steps whose sends may have been carried out.
 * @throws InvalidInput where name or reason are empty; NotFound where there is no such run; Refused where it
 *   has ended, or is not the expected one.
 */
export const terminateRun = async (
  temporal: Temporal,
  workflowId: string,
  { by, expectedRunId, reason }: EndOptions,
): Promise<{ readonly runId: string; readonly inDoubt: ReadonlyArray<StepInDoubt> }> => {
  checkActing({ by, reason });
  const run = await openRun(temporal, workflowId, { expectedRunId });
  const handle = temporal.client.workflow.getHandle(workflowId, run.runId);
  await orEnded(workflowId, handle.terminate(`${reason} (${by})`));
  const executed = await readExecutionHistory(temporal, run);
  return {
    runId: run.runId,
    inDoubt: stepsInDoubt(executed),
  };
};
