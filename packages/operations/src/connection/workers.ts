import { pollersOf, type Tasks } from "@durable-payments/activities/queue-pollers";
import { batchQueue, fallbackPollingQueue, serviceQueue } from "@durable-payments/protocol";
import { isGrpcServiceError, ServiceError } from "@temporalio/client";
import { invalidInput, type NextOperation } from "../errors.ts";
import type { Temporal } from "./temporal.ts";

/** How many workers poll a task queue for the tasks of workflows or of activities. */
export const countPollers = async (
  { client, settings }: Temporal,
  tasks: Tasks,
  taskQueue = settings.taskQueue,
): Promise<number> => (await pollersOf(client, tasks, taskQueue)).length;

/** The queues of activities that a worker of a base queue polls beside it, for the account of this name. */
export const activityQueues = (taskQueue: string, account?: string): ReadonlyArray<string> => [
  serviceQueue(taskQueue, account),
  batchQueue(taskQueue, account),
  fallbackPollingQueue(taskQueue, account),
];

/** The queue, of those without which no run of an account makes progress, that nobody polls. */
export const unpolledQueue = async (
  temporal: Temporal,
  taskQueue: string,
  account: string | undefined,
): Promise<string | undefined> => {
  if ((await countPollers(temporal, "workflow", taskQueue)) === 0) return taskQueue;
  const service = serviceQueue(taskQueue, account);
  return (await countPollers(temporal, "activity", service)) === 0 ? service : undefined;
};

/** Why runs do not go on, and what to do. */
export interface Unanswered {
  readonly message: string;
  readonly next?: NextOperation;
}

/** Say that nobody takes up the tasks of a queue. */
export const noWorker = (taskQueue: string, namespace: string): Unanswered => ({
  message: `No worker polls task queue "${taskQueue}" in namespace "${namespace}".`,
  next: { operation: "startWorker" },
});

/** Check whether workers poll, and none of them the queue of an account; false where Temporal does not say it. */
const isUnknown = async (temporal: Temporal, account: string): Promise<boolean> => {
  const queue = serviceQueue(temporal.settings.taskQueue, account);
  try {
    const [workers, ofAccount] = await Promise.all([
      countPollers(temporal, "workflow"),
      countPollers(temporal, "activity", queue),
    ]);
    return workers > 0 && ofAccount === 0;
  } catch (error) {
    // The first worker of the run refuses it, then.
    if (error instanceof ServiceError || isGrpcServiceError(error)) return false;
    throw error;
  }
};

/**
 * Refuse an account that no worker has, as far as that can be seen before the start.
 *
 * @param account its name; nothing is checked of the account without one.
 * @throws InvalidInput
 */
export const checkAccountIsKnown = async (
  temporal: Temporal,
  account: string | undefined,
): Promise<void> => {
  if (account === undefined || !(await isUnknown(temporal, account))) return;
  throw invalidInput(
    `No worker of task queue "${temporal.settings.taskQueue}" has an account ${account}. Nothing was started. Correct the account in the input, or give it to the workers (docs/accounts.md), and wait until they poll.`,
    [{ field: "account", problem: `no worker has ${account}` }],
  );
};
