import { bulkQueue, safetyNetQueue, serviceQueue } from "./task-queues.ts";

/** The rate of all workers together, and how it is divided. */
export interface QueueRates {
  /**
   * Activities that call the service, begun in a second; one is mostly one request. No limit where
   * it is undefined.
   */
  readonly activitiesPerSecond?: number | undefined;
  /** The part of it that bulk runs may use, above 0 and below 1; default 0.5. */
  readonly bulkShare?: number | undefined;
  /** The slow looks of runs that wait, in a second; default 1, but at most a tenth of the rate. */
  readonly safetyNetPerSecond?: number | undefined;
}

/** The options of a `Worker` that tell the queues apart. */
export interface QueueOptions {
  readonly taskQueue: string;
  readonly maxTaskQueueActivitiesPerSecond?: number;
  readonly maxConcurrentActivityTaskExecutions?: number;
}

/** The options of a process's workers. */
export interface WorkerQueues {
  /** Those that have workflows and activities: the base queue, and that of bulk runs. */
  readonly workflowQueues: ReadonlyArray<QueueOptions>;
  /** Those that have activities alone. */
  readonly activityQueues: ReadonlyArray<QueueOptions>;
}

const DEFAULT_SAFETY_NET_PER_SECOND = 1;

/** Slots of the safety net: as slow as it is, it needs few. */
const SAFETY_NET_SLOTS = 5;

const limited = (taskQueue: string, perSecond: number | undefined): QueueOptions => ({
  taskQueue,
  ...(perSecond !== undefined && { maxTaskQueueActivitiesPerSecond: perSecond }),
});

/**
 * Options of the workers that a process needs, one `Worker.create` each; all take the activities.
 * The server enforces what the worker that polled last has said: give the same to every process.
 */
export const workerQueues = (
  taskQueue: string,
  { activitiesPerSecond: rate, bulkShare = 0.5, safetyNetPerSecond }: QueueRates = {},
): WorkerQueues => {
  const most = rate === undefined ? DEFAULT_SAFETY_NET_PER_SECOND : rate / 10;
  const safetyNet = safetyNetPerSecond ?? Math.min(DEFAULT_SAFETY_NET_PER_SECOND, most);
  const rest = rate === undefined ? undefined : rate - safetyNet;
  return {
    workflowQueues: [{ taskQueue }, limited(bulkQueue(taskQueue), rest && rest * bulkShare)],
    activityQueues: [
      limited(serviceQueue(taskQueue), rest && rest * (1 - bulkShare)),
      {
        ...limited(safetyNetQueue(taskQueue), safetyNet),
        maxConcurrentActivityTaskExecutions: SAFETY_NET_SLOTS,
      },
    ],
  };
};
