import type {
  Delivery,
  NotifierState,
  Tracked,
  TrackerActivities,
} from "@durable-payments/protocol";
import {
  accountQueue,
  type BatchActivities,
  NUDGE,
  type PayoutChunk,
  type StartedRows,
} from "@durable-payments/protocol/calls";
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  workflowInfo,
} from "@temporalio/workflow";

/** Input of a check of a worker. */
export interface CheckWorkerInput {
  /** Names of the worker's accounts. Default: the one without a name. */
  readonly accounts?: ReadonlyArray<string>;
}

/**
 * Checks the worker's prerequisites for each of its accounts: the service accepts the sign-in, and the ledger answers. It
 * moves no money. Temporal's worker controller runs it as the gate of a rollout.
 */
export async function checkWorker({ accounts }: CheckWorkerInput = {}): Promise<void> {
  const { taskQueue } = workflowInfo();
  await Promise.all(
    (accounts ?? [undefined]).map((account) => {
      const queue = accountQueue(taskQueue, account);
      const activities = proxyActivities<{ readonly checkWorker: () => Promise<void> }>({
        taskQueue: queue,
        startToCloseTimeout: "1 minute",
        // The worker controller gives the run an hour: an earlier end reports the failure.
        scheduleToCloseTimeout: "50 minutes",
        retry: { initialInterval: "1 second", maximumInterval: "1 minute" },
        summary: `Sign in and read the ledger, by ${queue}`,
      });
      return activities.checkWorker();
    }),
  );
}

/**
 * Completes the waits of an account's runs, notifies runs of decisions, and reconciles writes of ended runs. The
 * workers of each account keep one running.
 *
 * @param account name of the account; null or left out for the unnamed account.
 * @param known state of the previous run.
 */
export async function tracker(account?: string | null, known?: Tracked): Promise<void> {
  const { track } = proxyActivities<TrackerActivities>({
    taskQueue: accountQueue(workflowInfo().taskQueue, account ?? undefined),
    // The activity ends after hours; heartbeats reveal a lost worker.
    startToCloseTimeout: "1 day",
    heartbeatTimeout: "15 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "10 seconds" },
    summary: "Read the service's lists, complete the waits",
  });
  const next = await track(known);
  await continueAsNew<typeof tracker>(account ?? null, next);
}

/**
 * Posts notifications about the runs of a task queue that ask, fail or are overdue, and about batches that end. The
 * workers of each task queue keep one running; its state has the undelivered notifications.
 */
export async function notifier(state?: NotifierState): Promise<void> {
  const { notify } = proxyActivities<{
    readonly notify: (state: NotifierState | undefined) => Promise<NotifierState>;
  }>({
    // As for the tracker.
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
  setHandler(defineUpdate<Delivery>("testNotification"), () => sendTestNotification());
  const next = await notify(state);
  await condition(allHandlersFinished);
  await continueAsNew<typeof notifier>(next);
}

/**
 * Starts the rows of a part of a batch, and follows them to their ends. The ledger has the outcome of each row, so the
 * activity continues where an earlier attempt stopped.
 *
 * @param chunk the rows, with their inputs.
 * @returns the number of rows by outcome.
 */
export async function payoutBatch(chunk: PayoutChunk): Promise<StartedRows> {
  const { startRows } = proxyActivities<BatchActivities>({
    startToCloseTimeout: "1 hour",
    heartbeatTimeout: "30 seconds",
    retry: { initialInterval: "2 seconds", maximumInterval: "1 minute" },
  });
  const seen = { isNudged: false };
  setHandler(defineSignal(NUDGE), () => {
    seen.isNudged = true;
  });
  for (;;) {
    seen.isNudged = false;
    const answer = await startRows(chunk);
    if (answer.is === "done") return answer;
    // Each decision (approved, resumed, rejected) nudges; the timer is for a lost nudge.
    await condition(() => seen.isNudged, "12 hours");
  }
}
