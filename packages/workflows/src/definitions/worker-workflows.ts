import type { PaymentsActivities } from "@durable-payments/activities";
import type { CheckWorkerInput, NotifierState, TrackerInput } from "@durable-payments/protocol";
import { accountQueue, nudgeSignal, type BatchChunk } from "@durable-payments/protocol/calls";
import { testNotificationUpdate } from "@durable-payments/protocol/notifications";
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";
import { refuseFaults } from "../run.ts";
import { activity } from "../steps/write.ts";

/**
 * Checks the worker's prerequisites for each of its accounts: the service accepts the sign-in, and the ledger responds. It
 * moves no money. Temporal's worker controller runs it as the gate of a rollout.
 */
export async function checkWorker({ accounts }: CheckWorkerInput = {}): Promise<void> {
  const { taskQueue } = workflowInfo();
  await Promise.all(
    (accounts ?? [undefined]).map((account) => {
      const check = activity("checkWorker", account, {
        startToCloseTimeout: "1 minute",
        // The worker controller gives the run an hour: an earlier end reports the failure.
        scheduleToCloseTimeout: "50 minutes",
        retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
        summary: `Sign in and read the ledger, by ${accountQueue(taskQueue, account)}`,
      });
      return check();
    }),
  );
}

/**
 * Completes the waits of an account's runs, notifies runs of decisions, and reconciles writes of ended runs. The
 * workers of each account keep one running.
 *
 * @param input the account, and the state of the previous run.
 */
export async function tracker(input: TrackerInput): Promise<void> {
  refuseFaults("tracker", input);
  const track = activity("track", input.name, {
    // The activity ends after hours; heartbeats reveal a lost worker.
    startToCloseTimeout: "1 day",
    heartbeatTimeout: "15 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "10 seconds" },
    summary: "Read the service's lists, complete the waits",
  });
  const known = await track(input);
  await continueAsNew<typeof tracker>({ ...input, known });
}

/**
 * Delivers the events of the ledger's feed to the webhook of a task queue, in order. The workers of each task queue keep
 * one running; the ledger has how far it is.
 */
export async function notifier(state?: NotifierState): Promise<void> {
  const { notify } = proxyActivities<PaymentsActivities>({
    // The same as for the tracker.
    startToCloseTimeout: "1 day",
    heartbeatTimeout: "10 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
    summary: "Deliver the events of the ledger",
  });
  const { sendTestNotification } = proxyActivities<PaymentsActivities>({
    // A person waits for the result.
    startToCloseTimeout: "15 seconds",
    retry: { maximumAttempts: 1 },
    summary: "Post one test notification",
  });
  setHandler(testNotificationUpdate, () => sendTestNotification());
  const next = await notify(state);
  await condition(allHandlersFinished);
  await continueAsNew<typeof notifier>(next);
}

/**
 * Starts the rows of a part of a batch (a file of payments or onboardings, or a repair), and follows them to their ends. The ledger has the outcome of each row, so the
 * activity continues where an earlier attempt stopped.
 *
 * @param chunk the rows, with their inputs.
 */
export async function runBatch(chunk: BatchChunk): Promise<void> {
  refuseFaults("runBatch", chunk);
  const [first] = chunk.rows;
  // One account pays all rows of a file: its worker can read the payees. A repair reads nothing at the service.
  const account = first === undefined || "run" in first ? undefined : first.input.account;
  const startRows = activity("startRows", account, {
    startToCloseTimeout: "1 hour",
    heartbeatTimeout: "30 seconds",
    retry: { initialInterval: "2 seconds", maximumInterval: "1 minute" },
  });
  const seen = { isNudged: false };
  setHandler(nudgeSignal, () => {
    seen.isNudged = true;
  });
  for (;;) {
    seen.isNudged = false;
    const { is } = await startRows(chunk);
    if (is === "done") return;
    // The tracker nudges it after each decision. The timer is for a tracker that does not run.
    await condition(() => seen.isNudged, "12 hours");
  }
}
