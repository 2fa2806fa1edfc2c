import { batchQueue, serviceQueue } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";

const { TaskQueueType } = proto.temporal.api.enums.v1;

const TASK_QUEUE_TYPES = {
  workflow: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activity: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
};

/** What a worker polls for. */
export type Tasks = keyof typeof TASK_QUEUE_TYPES;

/** A worker polls at least once a minute; Temporal keeps those that are gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** List the identities of those who poll a task queue for the tasks of workflows or of activities. */
export const pollersOf = async (
  { options, workflowService }: Client,
  tasks: Tasks,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPES[tasks],
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};

/** List the hosts whose workers poll for calls of the service. `taskQueue`: the workers' base queue. */
export const pollingHosts = async (
  client: Client,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const queues = [serviceQueue(taskQueue), batchQueue(taskQueue)];
  const pollers = await Promise.all(queues.map((queue) => pollersOf(client, "activity", queue)));
  // The SDK's own identity of a worker: process id and host.
  return [...new Set(pollers.flat().map((identity) => identity.replace(/^\d+@/, "")))].toSorted();
};
