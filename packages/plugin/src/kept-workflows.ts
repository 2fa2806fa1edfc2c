import { messageOf } from "@durable-payments/client/values";
import type { Ledger } from "@durable-payments/ledger";
import {
  listedRuns,
  batchQueue,
  notifierId,
  trackerId,
  trackersOn,
  type Workflows,
} from "@durable-payments/protocol";
import { pollersOf } from "@durable-payments/protocol/task-queues";
import {
  type Client,
  WorkflowIdConflictPolicy,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import { Runtime } from "@temporalio/worker";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "./accounts.ts";

const workflowIdConflictPolicy = WorkflowIdConflictPolicy.USE_EXISTING;

/** Returns how the tracker of an account is started. Without it runs wait longer. */
export const trackerOf = (
  { hash: account, name }: Pick<Account, "hash" | "name">,
  taskQueue: string,
): WorkflowStartOptions<Workflows["tracker"]> => ({
  taskQueue,
  workflowId: trackerId(account, name),
  workflowIdConflictPolicy,
  args: [{ account, name }],
  staticSummary: "Completes waits for payouts, identity checks and funds",
  staticDetails:
    "Moves no money. It reads the service's lists on behalf of all waiting runs, notifies runs of answers, and remembers the last entry of the ledger. Workers keep it running. Do not terminate it between a restore of the ledger and recover. At any other time a worker starts it again within a minute. docs/how-it-works.md",
});

/** Returns how the notifier of a task queue is started. */
export const notifierOf = (taskQueue: string): WorkflowStartOptions<Workflows["notifier"]> => ({
  taskQueue,
  workflowId: notifierId(taskQueue),
  workflowIdConflictPolicy,
  staticSummary: "Delivers the events of the ledger to a webhook",
  staticDetails:
    "Moves no money. It posts each event of the feed until the webhook accepts it, in order. Workers with the setting notify keep it running; the ledger keeps its position. docs/events.md",
});

/** A tracker or notifier that was terminated runs again after this time. */
const ENSURED_EVERY_MS = 60_000;

/** Starts a workflow on the queue of this worker, unless it runs on a queue that workers poll. */
export const ensure = async <Type extends "tracker" | "notifier">(
  client: Client,
  type: Type,
  options: WorkflowStartOptions<Workflows[Type]>,
): Promise<void> => {
  const start = () => client.workflow.start<Workflows[Type]>(type, options);
  const handle = await start();
  const { taskQueue } = await handle.describe();
  if (taskQueue === options.taskQueue) return;
  if ((await pollersOf(client, "workflow", taskQueue)).length > 0) return;
  await handle.terminate(
    `No worker polls the task queue ${taskQueue}: it continues on ${options.taskQueue}`,
  );
  await start();
};

/** Calls a function now and every minute until `signal` aborts. No payment depends on it, so a failure is only a warning. */
export const everyMinute = async (
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      Runtime.instance().logger.warn(
        `Trackers and notifier cannot be kept running: ${String(error)}`,
      );
    }
    await sleep(ENSURED_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};

/**
 * A tracker without an attempt for this time belongs to an account that left the settings. The time is longer than a rolling
 * restart, in which workers with and without the account exist: its tracker must not start and end in turn.
 */
const UNSERVED_MS = 10 * 60_000;

/**
 * Ends the trackers of a queue whose account no worker serves any more: no worker polls its queue, or those that do have
 * another client under its name. Other trackers are the ledger's witnesses. A worker that has the account starts its
 * tracker again within a minute.
 *
 * @param own workflow ids of the worker's own trackers.
 * @param since when the worker started: after an outage of all workers, each account has the whole time to come back.
 */
export const endUnserved = async (
  client: Client,
  taskQueue: string,
  own: ReadonlyArray<string>,
  since: number,
): Promise<void> => {
  const query = trackersOn(taskQueue);
  for await (const { execution, startTime } of listedRuns(client, query)) {
    const workflowId = execution?.workflowId ?? "";
    if (own.includes(workflowId)) continue;
    const handle = client.workflow.getHandle(workflowId, execution?.runId ?? "");
    const { raw } = await handle.describe();
    // An attempt by a worker with another client ends before its first heartbeat.
    const heardAt = optionalTsToMs(raw.pendingActivities?.[0]?.lastHeartbeatTime);
    const seenAt = Math.max(since, heardAt ?? optionalTsToMs(startTime) ?? 0);
    if (Date.now() - seenAt < UNSERVED_MS) continue;
    await handle.terminate("No worker has its account any more.");
  }
};

/** Warns if workers of other hosts poll as well, each with another ledger. */
export const warnOfOtherHosts = async (
  ledger: Ledger,
  client: Client,
  taskQueue: string,
  draining: AbortSignal,
): Promise<void> => {
  if (!ledger.isOfOneHost) return;
  const { logger } = Runtime.instance();
  try {
    const queues = [taskQueue, batchQueue(taskQueue)];
    const pollers = await Promise.all(queues.map((queue) => pollersOf(client, "activity", queue)));
    // The SDK's own identity of a worker: process id and host.
    const hosts = new Set(pollers.flat().map((identity) => identity.replace(/^\d+@/, "")));
    hosts.delete(hostname());
    if (hosts.size > 0) {
      logger.warn(
        `Workers on other hosts poll as well (${[...hosts].toSorted().join(", ")}), but the ledger is a file on this host: no worker knows what the others have sent. Use a shared PostgreSQL database: PAYMENTS_LEDGER=postgres://…`,
      );
    }
  } catch (error) {
    // Its connection is closed: it does not matter to this worker any more.
    if (draining.aborted) return;
    logger.warn(`Cannot check whether other hosts poll as well: ${messageOf(error)}`);
  }
};
