import type { TrackerActivities } from "@durable-payments/activities";
import { serviceQueue } from "@durable-payments/protocol";
import { continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";
import { accountPin } from "../run/account-pin.ts";
import { ofNamedAccount } from "../run/activities.ts";

const { trackWaiting } = ofNamedAccount(
  proxyActivities<TrackerActivities>({
    get taskQueue() {
      return serviceQueue(workflowInfo().taskQueue, accountPin().name);
    },
    // The activity ends by itself after hours; a lost worker is noticed by its heartbeats.
    startToCloseTimeout: "1 day",
    heartbeatTimeout: "20 seconds",
    retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "10 seconds" },
  }),
);

/**
 * Signal every run that waits for a payout or an identity check when that has ended. One runs for
 * each account, kept alive by the account's workers; waiting runs do not depend on it.
 *
 * @param account name of the account, where it has one.
 */
export async function tracker(account?: string): Promise<void> {
  if (account !== undefined) accountPin().nameIs(account);
  await trackWaiting.executeWithOptions(
    { summary: "Read the lists, signal the runs that wait" },
    [],
  );
  await continueAsNew<typeof tracker>(...(account === undefined ? [] : [account]));
}
