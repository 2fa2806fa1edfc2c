import type { Operations } from "@durable-payments/operations/connection";
import { WorkflowNotFoundError } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { TASK_QUEUE } from "../environment/environment.ts";
import type { PlannedRun } from "../plan/planned-run.ts";
import { WORKFLOW_TYPES } from "../start-runs.ts";

/**
 * Resets the latest run of an id to its first workflow task, as Temporal's own tool does.
 *
 * @returns whether it was reset; false where it has no workflow task yet.
 */
export const resetNatively = async (
  { client, namespace }: Operations,
  workflowId: string,
): Promise<boolean> => {
  try {
    const handle = client.workflow.getHandle(workflowId);
    const { runId } = await handle.describe();
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const first = events?.find(
      ({ workflowTaskCompletedEventAttributes: completed }) =>
        completed !== null && completed !== undefined,
    );
    if (first?.eventId === null || first?.eventId === undefined) return false;
    await client.workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: { workflowId, runId },
      reason: "chaos",
      requestId: randomUUID(),
      workflowTaskFinishEventId: first.eventId,
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};

/** Starts an id once more with the same input by a client without any plugin: nobody vouches. */
export const startBare = async (
  { client }: Operations,
  { input, kind, workflowId }: PlannedRun,
): Promise<void> => {
  await client.workflow.start(WORKFLOW_TYPES[kind], {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    workflowIdConflictPolicy: "USE_EXISTING",
  });
};
