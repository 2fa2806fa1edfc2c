import { type BatchRow, WORKFLOW } from "@durable-payments/protocol";
import type { Client, WorkflowExecutionInfo } from "@temporalio/client";
import { paysRow } from "./payout-content.ts";
import { decodePayloads, refuseUnreadable } from "./readable-payloads.ts";

/** A run that has the workflow id of a row. */
type Run = Pick<WorkflowExecutionInfo, "memo" | "runId" | "workflowId">;

/**
 * Check whether a run pays what a row pays, by what it was started with: whoever can start a run can write any
 * memo beside it.
 *
 * @returns false for a run of something else under the row's id.
 */
export const isRunOfRow = async (
  client: Client,
  row: BatchRow,
  { memo, runId, workflowId }: Run,
): Promise<boolean> => {
  if (refuseUnreadable(memo?.["fingerprint"]) !== row.fingerprint) return false;
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const { input, workflowType } =
    history?.events?.[0]?.workflowExecutionStartedEventAttributes ?? {};
  if (workflowType?.name !== WORKFLOW.payout) return false;
  const [started] = await decodePayloads(client, input);
  return paysRow(row, started);
};
