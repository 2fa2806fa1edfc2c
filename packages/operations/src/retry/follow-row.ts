import { batchQueue } from "@durable-payments/protocol";
import type { PayoutChunk } from "@durable-payments/protocol/batches";
import type { Operations } from "../connection/operations.ts";

/**
 * Has the row of a batch followed again, whose run was retried: its batch may have ended, and has counted it as failed.
 *
 * @param input of the run that continues.
 */
export const followRow = async (
  { client, ledger, taskQueue }: Operations,
  workflowId: string,
  input: unknown,
): Promise<void> => {
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  if (run === undefined || run.batch === null || run.batchRow === null) return;
  const { batch, batchRow: number } = run;
  await ledger.changeRows(batch, [{ number, state: "started", message: null }]);
  const chunk: PayoutChunk = {
    batch,
    startedBy: run.startedBy ?? "",
    window: 1,
    // What has started a run of this type was checked as its input.
    rows: [{ input: input as PayoutChunk["rows"][number]["input"], number, workflowId }],
  };
  await client.workflow.start("payoutBatch", {
    workflowId: `${batch}/retried/${number}`,
    taskQueue: batchQueue(taskQueue),
    args: [chunk],
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: `Row ${number} of ${batch}, retried`,
  });
};
