/**
 * The task queues of a worker. The base queue has workflow tasks and the activities that do not
 * call the payment service; those that do are on a queue of their own, named after it, as the
 * Temporal server limits a queue's rate for all workers together. Bulk runs have both kinds of
 * tasks on one queue of their own.
 */

const SERVICE = "/service";
const BULK = "/bulk";
const SAFETY_NET = "/safety-net";

/** The base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string => {
  const suffix = [SERVICE, BULK, SAFETY_NET].find((known) => taskQueue.endsWith(known)) ?? "";
  return taskQueue.slice(0, taskQueue.length - suffix.length);
};

/**
 * The queue on which the runs of bulk runs are started: however many there are, nothing else waits
 * behind their tasks, on any server.
 */
export const bulkQueue = (taskQueue: string): string => `${baseQueue(taskQueue)}${BULK}`;

/** The queue of the activities by which a run of this queue calls the payment service. */
export const serviceQueue = (taskQueue: string): string =>
  taskQueue.endsWith(BULK) ? taskQueue : `${baseQueue(taskQueue)}${SERVICE}`;

/** The queue of the slow looks of runs that wait. */
export const safetyNetQueue = (taskQueue: string): string => `${baseQueue(taskQueue)}${SAFETY_NET}`;
