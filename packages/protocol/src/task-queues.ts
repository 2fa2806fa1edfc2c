/**
 * The task queues of a worker. The base queue has workflow tasks and the activities that do not
 * call the payment service; those that do are on a separate queue, named after it, as the
 * Temporal server limits a queue's rate for all workers together. Batches have both kinds of tasks
 * on one separate queue. An account with a name has queues of its own for its activities: `payments/service@eu`.
 */

const SERVICE = "/service";
const BATCH = "/batch";
const FALLBACK_POLLING = "/fallback-polling";

/** Base queue where none is named. */
export const DEFAULT_TASK_QUEUE = "payments";

/** Name the base queue that a setting names; the default one where it is empty or not set. */
export const taskQueueOf = (setting: string | undefined): string => setting || DEFAULT_TASK_QUEUE;

/** The end of the names of those that are named after a base queue. */
const NAMED_AFTER = /\/(?:service|batch|fallback-polling)(?:@[a-z0-9][a-z0-9-]*)?$/;

/** Name the base queue that a queue is named after, or is. */
export const baseQueue = (taskQueue: string): string => taskQueue.replace(NAMED_AFTER, "");

const ofAccount = (taskQueue: string, account: string | undefined): string =>
  account === undefined ? taskQueue : `${taskQueue}@${account}`;

/**
 * Name the queue on which the runs of a batch are started: however many there are, nothing else waits
 * behind their tasks, on any server.
 *
 * @param account name of the account that they are paid from: then it is the queue of their activities alone.
 */
export const batchQueue = (taskQueue: string, account?: string): string =>
  ofAccount(`${baseQueue(taskQueue)}${BATCH}`, account);

/**
 * Name the queue of the activities by which a run of this queue calls the payment service.
 *
 * @param account name of the account that it calls it for.
 */
export const serviceQueue = (taskQueue: string, account?: string): string =>
  taskQueue.endsWith(BATCH)
    ? batchQueue(taskQueue, account)
    : ofAccount(`${baseQueue(taskQueue)}${SERVICE}`, account);

/**
 * Name the queue of the seldom polls of runs that wait for a completion signal.
 *
 * @param account name of the account that they poll.
 */
export const fallbackPollingQueue = (taskQueue: string, account?: string): string =>
  ofAccount(`${baseQueue(taskQueue)}${FALLBACK_POLLING}`, account);
