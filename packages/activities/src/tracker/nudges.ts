import type { Ledger, WritePolicy } from "@durable-payments/ledger";
import { temporalReason } from "@durable-payments/protocol";
import { NUDGE, type Nudge } from "@durable-payments/protocol/calls";
import { runStep } from "@durable-payments/protocol/row-step";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { advanceRow } from "../write/advance-row.ts";

/** Most rows of one sweep: the others come next. */
const MOST = 500;

/** Whoever decides notifies the run right after: only what was left is the tracker's. */
const LEFT_FOR_MS = 5_000;

/** That a run was notified depends on none of it. */
const ANY_POLICY: WritePolicy = {
  repeat: "none",
  isListed: false,
  whenLost: "ask",
  keyLifetimeMs: 0,
  listLagMs: 0,
  requestTimeoutMs: 0,
};

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
    for (const { step, workflowId: rootId } of untold) {
      const name = { account, workflowId: rootId, step };
      await advanceRow(ledger, name, { is: "told", who: "tracker" }, ANY_POLICY);
    }
  }
  return fault;
};
