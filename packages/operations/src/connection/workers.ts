import { pollersOf, type Tasks } from "@durable-payments/activities/queue-pollers";
import { batchQueue, fallbackPollingQueue, serviceQueue } from "@durable-payments/protocol";
import type { NextOperation } from "../errors.ts";
import type { Temporal } from "./temporal.ts";

/** How many workers poll a task queue for the tasks of workflows or of activities. */
export const countPollers = async (
  { client, settings }: Temporal,
  tasks: Tasks,
  taskQueue = settings.taskQueue,
): Promise<number> => (await pollersOf(client, tasks, taskQueue)).length;

/** The queues of activities that a worker of a base queue polls beside it. */
export const activityQueues = (taskQueue: string): ReadonlyArray<string> => [
  serviceQueue(taskQueue),
  batchQueue(taskQueue),
  fallbackPollingQueue(taskQueue),
];

/** The queue, of those without which no run makes progress, that nobody polls. */
export const unpolledQueue = async (
  temporal: Temporal,
  taskQueue: string,
): Promise<string | undefined> => {
  if ((await countPollers(temporal, "workflow", taskQueue)) === 0) return taskQueue;
  const service = serviceQueue(taskQueue);
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
