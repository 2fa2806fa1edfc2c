/**
 * The task queues of a worker. The base queue has workflow tasks and the activities that do not
 * call the payment service; those that do are on a separate queue, named after it, as the
 * Temporal server limits a queue's rate for all workers together. Batches have both kinds of tasks
 * on one separate queue.
 */

const SERVICE = "/service";
const BATCH = "/batch";
const FALLBACK_POLLING = "/fallback-polling";

/** Base queue where none is named. */
export const DEFAULT_TASK_QUEUE = "payments";

/** Name the base queue that a setting names; the default one where it is empty or not set. */
export const taskQueueOf = (setting: string | undefined): string => setting || DEFAULT_TASK_QUEUE;

/** Name the base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string => {
  const suffix =
    [SERVICE, BATCH, FALLBACK_POLLING].find((known) => taskQueue.endsWith(known)) ?? "";
  return taskQueue.slice(0, taskQueue.length - suffix.length);
};

/**
 * Name the queue on which the runs of a batch are started: however many there are, nothing else waits
 * behind their tasks, on any server.
 */
export const batchQueue = (taskQueue: string): string => `${baseQueue(taskQueue)}${BATCH}`;

/** Name the queue of the activities by which a run of this queue calls the payment service. */
export const serviceQueue = (taskQueue: string): string =>
  taskQueue.endsWith(BATCH) ? taskQueue : `${baseQueue(taskQueue)}${SERVICE}`;

/** Name the queue of the seldom polls of runs that wait for a completion signal. */
export const fallbackPollingQueue = (taskQueue: string): string =>
  `${baseQueue(taskQueue)}${FALLBACK_POLLING}`;
