/**
 * A worker polls three task queues. The base queue has workflow tasks and the activities that do
 * not call the payment service; the two others have rates of their own, which the Temporal server
 * enforces for all workers together.
 */

const SERVICE = "/service";
const SAFETY_NET = "/safety-net";

/** The queue of all activities that call the payment service. */
export const serviceQueue = (taskQueue: string): string => `${taskQueue}${SERVICE}`;

/** The queue of the slow looks of runs that wait: at a low rate, behind everything else. */
export const safetyNetQueue = (taskQueue: string): string => `${taskQueue}${SAFETY_NET}`;

/** The base queue that one of the three belongs to. */
export const baseQueue = (taskQueue: string): string => {
  const suffix = [SERVICE, SAFETY_NET].find((known) => taskQueue.endsWith(known)) ?? "";
  return taskQueue.slice(0, taskQueue.length - suffix.length);
};

/** What all workers together may begin in a second; no limit where it is undefined. */
export interface QueueRates {
  /** Activities on the queue of {@link serviceQueue}; one is mostly one request. */
  readonly activitiesPerSecond?: number | undefined;
  /** Activities on the queue of {@link safetyNetQueue}, default 5. */
  readonly safetyNetPerSecond?: number | undefined;
}

/** The options of a `Worker` that tell the three queues apart. */
export interface QueueOptions {
  readonly taskQueue: string;
  readonly maxTaskQueueActivitiesPerSecond?: number;
  readonly maxConcurrentActivityTaskExecutions?: number;
}

/** Slots of the safety net: as long as it is slow, it needs few. */
const SAFETY_NET_SLOTS = 5;

/**
 * Options of the three workers that a process needs: each is given to one `Worker.create`, together
 * with the activities; workflows belong to the first alone. The value that the server enforces is that of
 * the worker that polled last: give all workers of a queue the same.
 */
export const workerQueues = (
  taskQueue: string,
  { activitiesPerSecond, safetyNetPerSecond = 5 }: QueueRates = {},
): {
  readonly base: QueueOptions;
  readonly service: QueueOptions;
  readonly safetyNet: QueueOptions;
} => ({
  base: { taskQueue },
  service: {
    taskQueue: serviceQueue(taskQueue),
    ...(activitiesPerSecond !== undefined && {
      maxTaskQueueActivitiesPerSecond: activitiesPerSecond,
    }),
  },
  safetyNet: {
    taskQueue: safetyNetQueue(taskQueue),
    maxTaskQueueActivitiesPerSecond: safetyNetPerSecond,
    maxConcurrentActivityTaskExecutions: SAFETY_NET_SLOTS,
  },
});
