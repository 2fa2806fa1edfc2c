import { type Client, WorkflowNotFoundError } from "@temporalio/client";

/** What Temporal says of a workflow id. */
export type RunState = "open" | "closed" | "unknown";

/**
 * Returns whether a workflow id has an open run.
 *
 * @returns `unknown` where Temporal knows no run of it.
 * @throws where Temporal cannot be asked.
 */
export const readRunState = async (client: Client, workflowId: string): Promise<RunState> => {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === "RUNNING" || status.name === "PAUSED" ? "open" : "closed";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "unknown";
    throw error;
  }
};
