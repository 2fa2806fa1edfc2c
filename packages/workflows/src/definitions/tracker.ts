import { accountQueue } from "@durable-payments/protocol/calls";
import type { Tracked, TrackerActivities } from "@durable-payments/protocol";
import { continueAsNew, proxyActivities, workflowInfo } from "@temporalio/workflow";

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
