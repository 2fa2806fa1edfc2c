import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import type { Client } from "@temporalio/client";
import type { temporal } from "@temporalio/proto";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** One run of a workflow id. */
export interface RunOfId {
  readonly workflowId: string;
  readonly runId: string;
}

/** Reads with what a run was started: encoded as it is in Temporal. */
export const readFirstEvent = async (
  { options, workflowService }: Client,
  { runId, workflowId }: RunOfId,
): Promise<HistoryEvent> => {
  const { history } = await workflowService.getWorkflowExecutionHistory({
    namespace: options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [first] = history?.events ?? [];
  if (!first?.workflowExecutionStartedEventAttributes)
    throw new Error(`The history of ${workflowId} does not begin with its start.`);
  return first;
};

/** Reads the input of a run: the first argument of its workflow. */
export const readInput = async (client: Client, run: RunOfId): Promise<unknown> => {
  const first = await readFirstEvent(client, run);
  const [input] = await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    first.workflowExecutionStartedEventAttributes?.input?.payloads,
  );
  return input;
};
