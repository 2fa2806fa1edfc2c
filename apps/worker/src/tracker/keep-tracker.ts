import { trackerId, WORKFLOW } from "@durable-payments/protocol";
import { type Account, accountHash } from "@durable-payments/protocol/account";
import type { tracker } from "@durable-payments/workflows";
import { type Client, WorkflowIdConflictPolicy } from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import { setTimeout as sleep } from "node:timers/promises";

/** Where the tracker of an account runs. */
export interface TrackerPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly account: Account;
}

/** A tracker that was ended, by whomever, runs again after this time. */
const ENSURED_EVERY_MS = 60_000;

/**
 * Makes sure, now and every minute until `signal` aborts, that the account's tracker runs. All
 * workers do so, for one tracker. Without it runs wait longer; so a failure is a warning only.
 */
export const keepTracker = async (
  { account, client, taskQueue }: TrackerPlace,
  signal: AbortSignal,
): Promise<void> => {
  const workflowId = trackerId(accountHash(account));
  while (!signal.aborted) {
    try {
      await client.workflow.start<typeof tracker>(WORKFLOW.tracker, {
        taskQueue,
        workflowId,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        staticSummary: "Signals runs whose payout or identity check has ended",
      });
    } catch (error) {
      if (signal.aborted) return;
      Runtime.instance().logger.warn(
        `The tracker ${workflowId} cannot be started: ${String(error)}`,
      );
    }
    await sleep(ENSURED_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};
