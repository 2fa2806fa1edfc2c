import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { timeOf } from "./events.ts";

/**
 * Read when a run was first started, ISO 8601: its memo names who did that. A run that a retry made has the
 * history of the one before it, and began with the retry.
 */
export const readFirstStart = async (
  { client }: Temporal,
  { raw, runId, startTime, workflowId }: WorkflowExecutionDescription,
): Promise<string> => {
  const began = startTime.toISOString();
  if ((raw.workflowExecutionInfo?.firstRunId || runId) === runId) return began;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [first] = history?.events ?? [];
  return first === undefined ? began : timeOf(first);
};
