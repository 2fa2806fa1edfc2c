import type { PaymentsActivities } from "@durable-payments/activities";
import { safetyNetQueue, serviceQueue } from "@durable-payments/activities/task-queues";
import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from "@temporalio/workflow";

const options = {
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "15 seconds",
  scheduleToCloseTimeout: "365 days",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
  // A cancelled send is waited for: what it came to must be known before anything is undone.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

/**
 * The activities as steps call them. The activities decide themselves, by the operation's class in
 * the contract, whether a failure may be retried: a lost worker never makes a payment twice.
 *
 * `startToCloseTimeout` is above the longest call of the client, its retries and waits included.
 */
export const activities = proxyActivities<PaymentsActivities>({
  ...options,
  // Read for each call: a run's queue is known only while the run is under way.
  get taskQueue() {
    return serviceQueue(workflowInfo().taskQueue);
  },
});

/** The same activities on the queue of slow looks: for those that wait beside another means. */
export const safetyNetActivities = proxyActivities<PaymentsActivities>({
  ...options,
  get taskQueue() {
    return safetyNetQueue(workflowInfo().taskQueue);
  },
});

/** Activities that send nothing: they cost no round trip to the server. */
export const localActivities = proxyLocalActivities<
  Pick<PaymentsActivities, "checkRequests" | "isAbove" | "readRetryOrder">
>({
  startToCloseTimeout: "10 seconds",
});
