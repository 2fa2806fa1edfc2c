import type { Client } from "@temporalio/client";
import proto from "@temporalio/proto";
import type { NextOperation } from "../errors.ts";

const { TaskQueueType } = proto.temporal.api.enums.v1;

/** A worker polls at least once a minute; Temporal keeps those that are gone for five. */
const SEEN_WITHIN_MS = 90_000;

/** Returns the identities of those who poll a task queue for the tasks of workflows or of activities. */
export const pollersOf = async (
  { options, workflowService }: Client,
  tasks: "workflow" | "activity",
  taskQueue: string,
): Promise<ReadonlyArray<string>> => {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType:
      tasks === "workflow"
        ? TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW
        : TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
  });
  const oldest = Date.now() - SEEN_WITHIN_MS;
  return (pollers ?? [])
    .filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest)
    .map(({ identity }) => identity ?? "");
};

/** Why runs make no progress, and what to do. */
export interface Unanswered {
  readonly message: string;
  readonly next: NextOperation;
}

/**
 * Says that nobody takes up the tasks of a queue.
 *
 * @returns undefined where a worker polls it.
 */
export const noWorker = async (
  client: Client,
  taskQueue: string,
): Promise<Unanswered | undefined> =>
  (await pollersOf(client, "workflow", taskQueue)).length > 0
    ? undefined
    : {
        message: `No worker polls task queue "${taskQueue}" in namespace "${client.options.namespace}".`,
        next: { operation: "startWorker" },
      };
