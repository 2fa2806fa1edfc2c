import type { NewDecision } from "@durable-payments/ledger";
import { isNotFound } from "@durable-payments/protocol";
import { WorkflowNotFoundError } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import type { Operations } from "./connection/operations.ts";
import { changing, isNoAnswer } from "./connection/temporal-errors.ts";
import { type Acting, actorOf, decisionOn, ownerOf } from "./decide/record.ts";
import { notFound, refused } from "./errors.ts";
import { endText } from "./history.ts";
import { readProgress } from "./show/progress.ts";

/** How a run is ended. */
export interface CancelOptions extends Acting {
  /** Terminates the run: it undoes nothing. */
  readonly isForced?: boolean;
}

/** What became of a run that a person ended. */
export interface Cancelled {
  readonly decision: NewDecision;
  /** `closed`: it had ended before. `unanswered`: Temporal did not answer; the end holds, since each send checks it. */
  readonly run: "asked" | "terminated" | "closed" | "unanswered";
}

/** As `handle.cancel()`, which takes no reason. */
const requestCancel = (
  { client: { options, workflowService } }: Operations,
  workflowExecution: { readonly workflowId: string; readonly runId: string },
  reason: string,
): Promise<unknown> =>
  workflowService.requestCancelWorkflowExecution({
    namespace: options.namespace,
    identity: options.identity,
    requestId: randomUUID(),
    workflowExecution,
    reason,
  });

/**
 * Ends a workflow id by a person's decision: nothing more is sent under it, by this run, a retry or a reset. Then the
 * run is cancelled; a request in flight is completed, and what was sent stays.
 *
 * @throws NotFound where neither Temporal nor the ledger knows the id; Refused for a child.
 */
export const cancel = async (
  operations: Operations,
  workflowId: string,
  { isForced = false, ...acting }: CancelOptions,
): Promise<Cancelled> => {
  const { client, ledger } = operations;
  const actor = actorOf(acting, true);
  const run = await readProgress(client, workflowId).catch((error: unknown) => {
    if (isNoAnswer(error)) return "unanswered" as const;
    throw error;
  });
  const rows = await ledger.rowsOf(workflowId);
  if (run === undefined && rows.length === 0) {
    throw notFound(`There is no run ${workflowId}. Nothing was done.`);
  }
  if (typeof run === "object" && run.rootId !== workflowId) {
    throw refused(`${workflowId} is a child of ${run.rootId}: end that. Nothing was done.`, {
      operation: "cancel",
      workflowId: run.rootId,
    });
  }
  const owner = await ownerOf(operations, workflowId);
  const decision = decisionOn(owner, "end", actor, { value: { isForced } });
  await ledger.decide(decision);
  if (run === "unanswered") return { decision, run: "unanswered" };
  if (run?.state !== "running") return { decision, run: "closed" };
  const handle = client.workflow.getHandle(workflowId, run.runId);
  const mayBe = `The end of ${workflowId} is recorded, so nothing more is sent; its run may be open`;
  try {
    await changing(operations, workflowId, mayBe, async () => {
      if (isForced) await handle.terminate(endText(actor));
      else await requestCancel(operations, { workflowId, runId: run.runId }, endText(actor));
    });
  } catch (error) {
    // It has ended meanwhile.
    if (error instanceof WorkflowNotFoundError || isNotFound(error))
      return { decision, run: "closed" };
    throw error;
  }
  return { decision, run: isForced ? "terminated" : "asked" };
};
