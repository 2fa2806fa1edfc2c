import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";

const QUEUES = {
  activity: "TASK_QUEUE_TYPE_ACTIVITY",
  workflow: "TASK_QUEUE_TYPE_WORKFLOW",
} as const;

/** A worker polls at least once a minute; Temporal lists a worker that is gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** Returns the identities of the workers that poll a task queue for the tasks of workflows or of activities. */
export const pollersOf = async (
  { options, workflowService }: Client,
  tasks: keyof typeof QUEUES,
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType[QUEUES[tasks]],
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};
