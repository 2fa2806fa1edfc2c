import { batchQueue, fallbackPollingQueue, serviceQueue } from "@durable-payments/protocol";

/** The rate of all workers together, and how it is divided. */
export interface QueueRates {
  /**
   * Activities that call the service, begun in a second; one is mostly one request. No limit where
   * it is undefined.
   */
  readonly activitiesPerSecond?: number | undefined;
  /** The part of it that batches may use, above 0 and below 1; default 0.5. */
  readonly batchShare?: number | undefined;
  /** Fallback polls of runs that wait, in a second; default 1, but at most a tenth of the rate. */
  readonly fallbackPollingPerSecond?: number | undefined;
}

/** The options of a `Worker` that differ by queue. */
export interface QueueOptions {
  /** Name of the task queue. */
  readonly taskQueue: string;
  /** Most activities that start in a second on the queue, of all workers together. */
  readonly maxTaskQueueActivitiesPerSecond?: number;
  /** Most activities at a time in this worker. */
  readonly maxConcurrentActivityTaskExecutions?: number;
}

/** The options of a process's workers. */
export interface WorkerQueues {
  /** Those that have workflows and activities: the base queue, and that of batches. */
  readonly workflowQueues: ReadonlyArray<QueueOptions>;
  /** Those that have activities alone. */
  readonly activityQueues: ReadonlyArray<QueueOptions>;
}

const DEFAULT_FALLBACK_POLLING_PER_SECOND = 1;

/** Slots of fallback polling: as slow as it is, it needs few. */
const FALLBACK_POLLING_SLOTS = 5;

const limited = (taskQueue: string, perSecond: number | undefined): QueueOptions => ({
  taskQueue,
  ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }),
});

/**
 * Give the options of the workers that a process needs, one `Worker.create` each; all take the activities.
 * The server enforces what the worker that polled last has said: give the same to every process.
 *
 * @param taskQueue the base queue.
 * @param rates of all workers of the account together.
 * @param account name of an account: gives the queues that it has beside those of the base queue, for its activities
 *   alone, so that its rate is its own.
 * @returns the options by what their workers take.
 */
export const workerQueues = (
  taskQueue: string,
  { activitiesPerSecond: rate, batchShare = 0.5, fallbackPollingPerSecond }: QueueRates = {},
  account?: string,
): WorkerQueues => {
  const most = rate === undefined ? DEFAULT_FALLBACK_POLLING_PER_SECOND : rate / 10;
  const fallback = fallbackPollingPerSecond ?? Math.min(DEFAULT_FALLBACK_POLLING_PER_SECOND, most);
  const rest = rate === undefined ? undefined : rate - fallback;
  const batch = limited(batchQueue(taskQueue, account), rest && rest * batchShare);
  const activityQueues = [
    limited(serviceQueue(taskQueue, account), rest && rest * (1 - batchShare)),
    {
      ...limited(fallbackPollingQueue(taskQueue, account), fallback),
      maxConcurrentActivityTaskExecutions: FALLBACK_POLLING_SLOTS,
    },
  ];
  return account === undefined
    ? { workflowQueues: [{ taskQueue }, batch], activityQueues }
    : { workflowQueues: [], activityQueues: [batch, ...activityQueues] };
};
