import { bulkQueue, safetyNetQueue, serviceQueue } from "@durable-payments/activities/task-queues";
import proto from "@temporalio/proto";
import type { Temporal } from "../connection/temporal.ts";

const { TaskQueueType } = proto.temporal.api.enums.v1;

const TASK_QUEUE_TYPES = {
  workflow: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activity: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
};

/** A worker polls at least once a minute; Temporal keeps those that are gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** Who polls a task queue for the tasks of workflows or of activities: `pid@host` of each worker. */
const pollersOf = async (
  { client, settings }: Temporal,
  tasks: keyof typeof TASK_QUEUE_TYPES,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: settings.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPES[tasks],
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};

/** How many workers poll a task queue for the tasks of workflows or of activities. */
export const countPollers = async (
  temporal: Temporal,
  tasks: keyof typeof TASK_QUEUE_TYPES,
  taskQueue = temporal.settings.taskQueue,
): Promise<number> => (await pollersOf(temporal, tasks, taskQueue)).length;

/** The queues of activities that a worker of a base queue polls beside it. */
export const activityQueues = (taskQueue: string): ReadonlyArray<string> => [
  serviceQueue(taskQueue),
  bulkQueue(taskQueue),
  safetyNetQueue(taskQueue),
];

/** The hosts on which workers poll for calls of the service. */
export const pollingHosts = async (temporal: Temporal): Promise<ReadonlyArray<string>> => {
  const queues = [serviceQueue, bulkQueue].map((name) => name(temporal.settings.taskQueue));
  const pollers = await Promise.all(queues.map((queue) => pollersOf(temporal, "activity", queue)));
  // The SDK's own identity of a worker: process id and host.
  return [...new Set(pollers.flat().map((identity) => identity.replace(/^\d+@/, "")))].toSorted();
};

/** The queue, of those without which no run gets on, that nobody polls. */
export const unpolledQueue = async (
  temporal: Temporal,
  taskQueue: string,
): Promise<string | undefined> => {
  if ((await countPollers(temporal, "workflow", taskQueue)) === 0) return taskQueue;
  const service = serviceQueue(taskQueue);
  return (await countPollers(temporal, "activity", service)) === 0 ? service : undefined;
};

/** What to tell a user whose runs nobody takes up. */
export const noWorkerText = (taskQueue: string, namespace: string): string =>
  `No worker polls task queue "${taskQueue}" in namespace "${namespace}". Start one: npm run worker`;
