import type { Temporal } from "../connection/temporal.ts";
import { decoded } from "./events.ts";

/** The input that a run was started with; undefined where its history has none. */
export const readInput = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId?: string },
): Promise<unknown> => {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, ...(runId !== undefined && { runId }) },
    maximumPageSize: 1,
  });
  const [input] =
    history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  return decoded(input);
};
