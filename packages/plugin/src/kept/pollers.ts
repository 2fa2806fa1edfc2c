import { batchQueue } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";

const { TaskQueueType } = proto.temporal.api.enums.v1;

const TASKS = {
  workflow: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
  activity: TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
};

/** A worker polls at least once a minute; Temporal keeps those that are gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** Returns the identities of those who poll a task queue for the tasks of workflows or of activities. */
export const pollersOf = async (
  { options, workflowService }: Client,
  tasks: keyof typeof TASKS,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: TASKS[tasks],
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};

/** Returns the hosts whose workers poll a base queue or its batches. */
export const pollingHosts = async (
  client: Client,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const queues = [taskQueue, batchQueue(taskQueue)];
  const pollers = await Promise.all(queues.map((queue) => pollersOf(client, "activity", queue)));
  // The SDK's own identity of a worker: process id and host.
  return [...new Set(pollers.flat().map((identity) => identity.replace(/^\d+@/, "")))].toSorted();
};
