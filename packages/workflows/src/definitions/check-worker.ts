import { accountQueue } from "@durable-payments/protocol/calls";
import { proxyActivities, workflowInfo } from "@temporalio/workflow";

/** What a check of a worker takes. */
export interface CheckWorkerInput {
  /** Names of the worker's accounts. Default: the one without a name. */
  readonly accounts?: ReadonlyArray<string>;
}

/**
 * Tries what a worker needs for payments, for each of its accounts: the service accepts the sign-in, and the ledger
 * answers. It moves no money. Temporal's worker controller runs it as the gate of a rollout.
 */
export async function checkWorker({ accounts }: CheckWorkerInput = {}): Promise<void> {
  const { taskQueue } = workflowInfo();
  await Promise.all(
    (accounts ?? [undefined]).map((account) => {
      const queue = accountQueue(taskQueue, account);
      const activities = proxyActivities<{ readonly checkWorker: () => Promise<void> }>({
        taskQueue: queue,
        startToCloseTimeout: "1 minute",
        // The worker controller gives the run an hour: ended by itself before that, it says what failed.
        scheduleToCloseTimeout: "50 minutes",
        retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
        summary: `Sign in and read the ledger, by ${queue}`,
      });
      return activities.checkWorker();
    }),
  );
}
