import type { Delivery, NotifierState } from "@durable-payments/protocol";
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";

const { notify } = proxyActivities<{
  readonly notify: (state: NotifierState | undefined) => Promise<NotifierState>;
}>({
  // The activity ends by itself after hours; a lost worker is noticed by its heartbeats.
  startToCloseTimeout: "1 day",
  heartbeatTimeout: "10 seconds",
  retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
  summary: "Look for what has happened, and post it",
});

const { sendTestNotification } = proxyActivities<{
  readonly sendTestNotification: () => Promise<Delivery>;
}>({
  // Somebody waits for the answer.
  startToCloseTimeout: "15 seconds",
  retry: { maximumAttempts: 1 },
  summary: "Post one test notification",
});

/**
 * Posts what happens to the runs of a task queue: which ask, fail or are overdue, and batches that end. One runs for each
 * task queue, kept alive by its workers; what was found and not delivered yet is its state.
 */
export async function notifier(state?: NotifierState): Promise<void> {
  setHandler(defineUpdate<Delivery>("testNotification"), () => sendTestNotification());
  const next = await notify(state);
  await condition(allHandlersFinished);
  await continueAsNew<typeof notifier>(next);
}
