/**
 * The task queues of a worker. The base queue has workflow tasks and the activities that do not
 * call the payment service; those that do are on queues of their own, named after it, as the
 * Temporal server limits a queue's rate for all workers together.
 */

const SERVICE = "/service";
const BULK = "/bulk";
const SAFETY_NET = "/safety-net";

/** The queue of the activities that call the payment service. */
export const serviceQueue = (taskQueue: string): string => `${taskQueue}${SERVICE}`;

/** The queue of those of bulk runs: however long it is, nothing else waits behind it. */
export const bulkQueue = (taskQueue: string): string => `${taskQueue}${BULK}`;

/** The queue of the slow looks of runs that wait. */
export const safetyNetQueue = (taskQueue: string): string => `${taskQueue}${SAFETY_NET}`;

/** The base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string => {
  const suffix = [SERVICE, BULK, SAFETY_NET].find((known) => taskQueue.endsWith(known)) ?? "";
  return taskQueue.slice(0, taskQueue.length - suffix.length);
};

/**
 * The priority of the runs that a bulk run starts: `priority` among the options of their start.
 * Their activities then go to the queue of {@link bulkQueue}, on every server. Where the server
 * knows priorities (Temporal Cloud; a server of one's own with the dynamic configuration
 * `matching.useNewMatcher`), their workflow tasks also come after all others.
 */
export const BULK_PRIORITY = { priorityKey: 5 } as const;

/** Whether a run of this priority is one of a bulk run. */
export const isBulk = (priority: { readonly priorityKey?: number } | undefined): boolean =>
  priority?.priorityKey === BULK_PRIORITY.priorityKey;
