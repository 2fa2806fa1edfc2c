import type { NotifierActivities } from "@durable-payments/activities";
import { type NotifierState, testNotificationUpdate } from "@durable-payments/protocol";
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";

const { notify } = proxyActivities<Pick<NotifierActivities, "notify">>({
  // The activity ends by itself after hours; a lost worker is noticed by its heartbeats.
  startToCloseTimeout: "1 day",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
});

const { sendTestNotification } = proxyActivities<Pick<NotifierActivities, "sendTestNotification">>(
  // Somebody waits for the answer.
  { startToCloseTimeout: "15 seconds", retry: { maximumAttempts: 1 } },
);

/**
 * Post what happens to the runs of a task queue: which ask, fail, are overdue, and batches that end. One
 * runs for each task queue, kept alive by its workers; what was found and not delivered yet is its
 * state, so that a restart of workers or server loses none.
 */
export async function notifier(state?: NotifierState): Promise<void> {
  setHandler(testNotificationUpdate, () =>
    sendTestNotification.executeWithOptions({ summary: "Post one test notification" }, []),
  );
  const next = await notify.executeWithOptions(
    { summary: "Look for what has happened, and post it" },
    [state],
  );
  await condition(allHandlersFinished);
  await continueAsNew<typeof notifier>(next);
}
