import type { PaymentsActivities } from "@durable-payments/activities";
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from "@temporalio/workflow";

/**
 * The activities as steps call them. The activities decide themselves, by the operation's class in
 * the contract, whether a failure may be retried: a lost worker never makes a payment twice.
 *
 * `startToCloseTimeout` is above the longest call of the client, its retries and waits included.
 */
export const activities = proxyActivities<PaymentsActivities>({
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "15 seconds",
  scheduleToCloseTimeout: "365 days",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
  // A cancelled send is waited for: what it came to must be known before anything is undone.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Activities that send nothing: they cost no round trip to the server. */
export const localActivities = proxyLocalActivities<
  Pick<PaymentsActivities, "checkRequests" | "isAbove">
>({
  startToCloseTimeout: "10 seconds",
});
