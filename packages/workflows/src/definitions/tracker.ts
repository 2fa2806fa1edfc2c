import type { TrackerActivities } from "@durable-payments/activities";
import { serviceQueue } from "@durable-payments/protocol";
import { continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";

const { trackWaiting } = proxyActivities<TrackerActivities>({
  get taskQueue() {
    return serviceQueue(workflowInfo().taskQueue);
  },
  // The activity ends by itself after hours; a lost worker is noticed by its heartbeats.
  startToCloseTimeout: "1 day",
  heartbeatTimeout: "20 seconds",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "10 seconds" },
});

/**
 * Signal every run that waits for a payout or an identity check when that has ended. One runs for
 * each account, kept alive by the account's workers; waiting runs do not depend on it.
 */
export async function tracker(): Promise<void> {
  await trackWaiting.executeWithOptions(
    { summary: "Read the lists, signal the runs that wait" },
    [],
  );
  await continueAsNew<typeof tracker>();
}
