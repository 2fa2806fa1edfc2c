import type { RunToReplay } from "@durable-payments/replay";
import type { Client } from "@temporalio/client";
import { batchQueue, queryTexts } from "@durable-payments/protocol";

/** Read the histories of all runs of a task queue, children and continuations among them. */
export const historiesOf = async (
  { workflow }: Client,
  taskQueue: string,
): Promise<ReadonlyArray<RunToReplay>> => {
  const query = `TaskQueue IN ${queryTexts([taskQueue, batchQueue(taskQueue)])}`;
  const runs: Array<RunToReplay> = [];
  for await (const { runId, workflowId } of workflow.list({ query })) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, history });
  }
  return runs;
};
