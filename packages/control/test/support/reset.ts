import { randomUUID } from "node:crypto";
import type { Connected } from "../../src/facts/connection/connections.ts";

/** Resets the latest run of an id to its first task, as Temporal's own tools do. Returns the id of the new run. */
export const resetToBegin = async (
  { client, namespace }: Pick<Connected, "client" | "namespace">,
  workflowId: string,
): Promise<string> => {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const again = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId },
    reason: "reset by hand",
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
  });
  return again.runId;
};
