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

/**
 * Completes the waits of an account's runs, notifies runs of decisions, and settles what ended runs have left. One runs
 * for each account, kept alive by the account's workers.
 *
 * @param account name of the account; null or left out for the one without a name.
 * @param known what the run before has handed on.
 */
export async function tracker(account?: string | null, known?: Tracked): Promise<void> {
  const { track } = proxyActivities<TrackerActivities>({
    taskQueue: accountQueue(workflowInfo().taskQueue, account ?? undefined),
    // The activity ends by itself after hours; a lost worker is noticed by its heartbeats.
    startToCloseTimeout: "1 day",
    heartbeatTimeout: "15 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "10 seconds" },
    summary: "Read the service's lists, complete the waits",
  });
  const next = await track(known);
  await continueAsNew<typeof tracker>(account ?? null, next);
}

/**
 * Posts what happens to the runs of a task queue: which ask, fail or are overdue, and batches that end. One runs for each
 * task queue, kept alive by its workers; what was found and not delivered yet is its state.
 */
export async function notifier(state?: NotifierState): Promise<void> {
  const { notify } = proxyActivities<{
    readonly notify: (state: NotifierState | undefined) => Promise<NotifierState>;
  }>({
    // As that of the tracker.
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
 * Starts the rows of a part of a batch, and follows them to their ends. What became of each row is in the ledger: the
 * activity continues where an earlier attempt stopped.
 *
 * @param chunk the rows, with their inputs.
 * @returns how many have ended in which way.
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
    // Approved, resumed or rejected: whoever decides nudges. It looks by itself, too.
    await condition(() => seen.isNudged, "12 hours");
  }
}
