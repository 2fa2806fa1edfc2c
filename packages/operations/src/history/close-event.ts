import proto from "@temporalio/proto";
import type { Temporal } from "../connection/temporal.ts";
import type { Event } from "./events.ts";

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } =
  proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Read the last event of a run that has ended, and nothing else of its history. */
export const readCloseEvent = async (
  { client }: Temporal,
  { runId, workflowId }: { readonly workflowId: string; readonly runId: string },
): Promise<Event | undefined> => {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return history?.events?.at(-1);
};
