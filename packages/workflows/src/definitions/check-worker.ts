import type { OfAccount, WorkerCheckActivities } from "@durable-payments/activities";
import { fallbackPollingQueue, serviceQueue } from "@durable-payments/protocol";
import { proxyActivities, workflowInfo } from "@temporalio/workflow";

const { checkWorkerNeeds } = proxyActivities<WorkerCheckActivities>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "15 seconds",
  // The worker controller gives the run an hour: ended by itself before that it says what failed.
  scheduleToCloseTimeout: "50 minutes",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
});

/** What a check of a worker takes. */
export interface CheckWorkerInput {
  /** Names of the worker's accounts; default: the one without a name. */
  readonly accounts?: ReadonlyArray<string>;
}

/**
 * Try what a worker needs for payments, on each task queue on which runs of this one's queue have their activities:
 * they are answered, the service accepts the sign-in, the journal can be written. It moves no money.
 * Temporal's worker controller runs it as the gate of a rollout on the workers of the new version (`docs/deployments.md`).
 *
 * @param input which accounts the workers have.
 */
export async function checkWorker({ accounts }: CheckWorkerInput = {}): Promise<void> {
  const { taskQueue } = workflowInfo();
  const checks = (accounts ?? [undefined]).flatMap((account) =>
    [serviceQueue, fallbackPollingQueue].map((queueOf) => {
      const queue = queueOf(taskQueue, account);
      const given: ReadonlyArray<OfAccount> =
        account === undefined ? [] : [{ paymentAccountName: account }];
      // The account is taken off again before the activity is called.
      return checkWorkerNeeds.executeWithOptions(
        { taskQueue: queue, summary: `Sign in and write the journal, by ${queue}` },
        given as [],
      );
    }),
  );
  await Promise.all(checks);
}
