import { notifierId, trackerId, WORKFLOW } from "@durable-payments/protocol";
import type { KeptWorkflow } from "./keep-running.ts";

/** Returns the tracker of an account, of this name where it has one. Without it runs wait longer. */
export const trackerOf = (
  accountHash: string,
  taskQueue: string,
  name: string | undefined,
): KeptWorkflow => ({
  type: WORKFLOW.tracker,
  options: {
    taskQueue,
    workflowId: trackerId(accountHash, name),
    args: name === undefined ? [] : [undefined, name],
    staticSummary: "Completes waits for payouts, identity checks and funds",
    staticDetails:
      "Moves no money. It reads the service's lists for all runs that wait, so that none of them has to, notifies runs of answers, and remembers how far the ledger has got. The workers keep it running; terminate it at any time: a worker starts it again within a minute. docs/how-it-works.md",
  },
});

/** Returns the notifier of a task queue. */
export const notifierOf = (taskQueue: string): KeptWorkflow => ({
  type: WORKFLOW.notifier,
  options: {
    taskQueue,
    workflowId: notifierId(taskQueue),
    staticSummary: "Posts to PAYMENTS_NOTIFY_URL which runs ask, fail or are overdue",
    staticDetails:
      "Moves no money. It looks for what has happened to the runs of this task queue, and posts each occurrence once it is accepted. The workers that have PAYMENTS_NOTIFY_URL keep it running; what it has not delivered yet is its state. docs/metrics.md",
  },
});
