import type { RunToReplay } from "@durable-payments/replay";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { batchQueue, queryTexts, WORKFLOW } from "@durable-payments/protocol";

/** The query of all runs of a test, children and continuations among them. */
const ofQueue = (taskQueue: string): string =>
  `TaskQueue IN ${queryTexts([taskQueue, batchQueue(taskQueue)])}`;

/** Read the histories of all runs of a test, but not that of the tracker, which is none of its own. */
export const historiesOf = async (
  { workflow }: Client,
  taskQueue: string,
): Promise<ReadonlyArray<RunToReplay>> => {
  const runs: Array<RunToReplay> = [];
  const query = `${ofQueue(taskQueue)} AND WorkflowType != "${WORKFLOW.tracker}"`;
  for await (const { runId, workflowId } of workflow.list({ query })) {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, history });
  }
  return runs;
};

/**
 * End the runs of a test that go on.
 *
 * @returns whether there was one.
 */
export const endRuns = async ({ workflow }: Client, taskQueue: string): Promise<boolean> => {
  let wasOpen = false;
  const query = `${ofQueue(taskQueue)} AND ExecutionStatus = "Running"`;
  for await (const { runId, workflowId } of workflow.list({ query })) {
    wasOpen = true;
    await workflow
      .getHandle(workflowId, runId)
      .terminate("The test is over.")
      .catch((error: unknown) => {
        // It has ended meanwhile.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
  return wasOpen;
};
