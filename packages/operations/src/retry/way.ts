import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { isOperationError, type NextOperation, Refused } from "../errors.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { checkDecisions, retryPoint } from "./point.ts";

/** A retry, as what can be done next. */
export type NextRetry = NextOperation & { readonly operation: "retry" };

/** How an ended run is retried, or why it cannot be. */
export type RetryWay = { readonly next: NextRetry } | { readonly whyNot: string };

/**
 * Find how an ended run is retried: as a retry without options would be, or where that is refused, as the refusal
 * says, until one is not refused. What is offered is so what works.
 *
 * @param workflowId of the run.
 * @param executed what all runs of its id have done.
 * @returns the retry, or why there is none.
 */
export const retryWay = (workflowId: string, executed: ExecutionHistory): RetryWay => {
  let next: NextRetry = { operation: "retry", workflowId };
  const tried = new Set<string>();
  for (;;) {
    try {
      const decisions = next.overrule === true ? "overrule" : "keep";
      checkDecisions(workflowId, executed, decisions);
      retryPoint(workflowId, executed, { decisions, from: next.from });
      return { next };
    } catch (error) {
      if (!isOperationError(error)) throw error;
      tried.add(JSON.stringify(next));
      if (error.next?.operation !== "retry") return { whyNot: error.message };
      next = { ...next, ...error.next };
      if (tried.has(JSON.stringify(next))) return { whyNot: error.message };
    }
  }
};

/**
 * Read how an ended run is retried, or why it cannot be.
 *
 * @param temporal the connection of `withTemporal`.
 * @param run the latest of its workflow id.
 * @returns the retry, or why there is none: where the history of an earlier run is gone, say.
 */
export const readRetryWay = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<RetryWay> => {
  const { status, workflowId } = run;
  if (status.name === "COMPLETED") return { whyNot: `The run ${workflowId} has completed.` };
  try {
    return retryWay(workflowId, await readExecutionHistory(temporal, run));
  } catch (error) {
    if (error instanceof Refused) return { whyNot: error.message };
    throw error;
  }
};

/** Read how an ended run is retried that was looked at, and no other of its id; undefined where it cannot be. */
export const readRetryOf = async (
  temporal: Temporal,
  run: WorkflowExecutionDescription,
): Promise<NextRetry | undefined> => {
  const way = await readRetryWay(temporal, run);
  return "next" in way ? { ...way.next, runId: run.runId } : undefined;
};
