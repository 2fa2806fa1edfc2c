import type { Ledger, WriteRow } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { NUDGE, type Nudge, runStep } from "@durable-payments/protocol/calls";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";

/** Most rows of one sweep: the others come next. */
const MOST = 500;

/** Whoever decides notifies the run right after: only what was left is the tracker's. */
const LEFT_FOR_MS = 5_000;

const noteNotified = ({ account, step, workflowId }: WriteRow, ledger: Ledger) =>
  ledger.transact({ account, workflowId, step }, ({ row }) =>
    row?.isUntold ? { row: { ...row, isUntold: false } } : {},
  );

/**
 * Notifies runs whose question is answered, or whose write was found: a decision and its signal are two writes, and the
 * second may have been lost.
 *
 * @returns why a run could not be notified, if one could not: its row stays for the next sweep.
 * @throws LedgerUnavailable
 */
export const nudgeUntold = async (
  ledger: Ledger,
  account: string,
  client: Client,
): Promise<string | undefined> => {
  const changedBefore = (await ledger.state()).now - LEFT_FOR_MS;
  const rows = await ledger.rows({ account, isUntold: true, changedBefore, limit: MOST });
  let fault: string | undefined;
  for (const [workflowId, untold] of Map.groupBy(rows, (row) => runStep(row).workflowId)) {
    const nudge: Nudge = { steps: untold.map((row) => runStep(row).step) };
    try {
      await client.workflow.getHandle(workflowId).signal(NUDGE, nudge);
    } catch (error) {
      // A run that has ended looks at the ledger when it is started again.
      if (!(error instanceof WorkflowNotFoundError)) {
        fault = `${workflowId} could not be notified: ${temporalReason(error)}`;
        continue;
      }
    }
    for (const row of untold) await noteNotified(row, ledger);
  }
  return fault;
};
