import { notifierId, trackerId, WORKFLOW } from "@durable-payments/protocol";
import { type Account, accountHash } from "@durable-payments/protocol/account";
import type { KeptWorkflow } from "./keep-running.ts";

/** The tracker of an account, of this name where it has one. Without it runs wait longer. */
export const trackerOf = (
  account: Account,
  taskQueue: string,
  name: string | undefined,
): KeptWorkflow => ({
  type: WORKFLOW.tracker,
  options: {
    taskQueue,
    workflowId: trackerId(accountHash(account), name),
    args: name === undefined ? [] : [name],
    staticSummary: "Signals runs whose payout or identity check has ended",
    staticDetails:
      "Moves no money. It reads the service's lists for all runs that wait, so that none of them has to. The workers keep it running; terminate it at any time: a worker starts it again within a minute, and runs that wait look by themselves meanwhile. docs/production.md",
  },
});

/** The notifier of a task queue. */
export const notifierOf = (taskQueue: string): KeptWorkflow => ({
  type: WORKFLOW.notifier,
  options: {
    taskQueue,
    workflowId: notifierId(taskQueue),
    staticSummary: "Posts to PAYMENTS_NOTIFY_URL which runs ask, fail or are overdue",
    staticDetails:
      "Moves no money. It looks for what has happened to the runs of this task queue, and posts each occurrence once it is accepted. The workers that have PAYMENTS_NOTIFY_URL keep it running; what it has not delivered yet is its state. docs/notifications.md",
  },
});
