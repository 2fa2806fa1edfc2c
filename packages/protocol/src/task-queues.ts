/*
 * The task queues of a worker. The base queue has the tasks of workflows and of activities. Batches have a queue of their
 * own, so that nothing else waits behind their tasks. A named account has a queue for its activities: `payments@eu`, by
 * `accountQueue` of `calls.ts`.
 */
const BATCH = "/batch";

/** Base queue where none is named. */
export const DEFAULT_TASK_QUEUE = "payments";

/** Returns the base queue that a setting names; the default one where it is empty or not set. */
export const taskQueueOf = (setting: string | undefined): string => setting || DEFAULT_TASK_QUEUE;

/** Returns the base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string =>
  taskQueue.replace(/(?:\/batch)?(?:@[a-z0-9][a-z0-9-]*)?$/, "");

/** Returns the queue on which the runs of a batch are started. */
export const batchQueue = (taskQueue: string): string => `${baseQueue(taskQueue)}${BATCH}`;
