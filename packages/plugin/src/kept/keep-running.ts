import {
  type Client,
  WorkflowIdConflictPolicy,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import { setTimeout as sleep } from "node:timers/promises";
import { pollersOf } from "./pollers.ts";

/** A workflow that the workers of a task queue keep running: one for all of them. */
export interface KeptWorkflow {
  readonly type: string;
  readonly options: Pick<
    WorkflowStartOptions,
    "args" | "workflowId" | "taskQueue" | "staticSummary" | "staticDetails"
  >;
}

/** One that was ended, by whomever, runs again after this time. */
const ENSURED_EVERY_MS = 60_000;

const startOf = (client: Client, { options, type }: KeptWorkflow) =>
  client.workflow.start(type, {
    ...options,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });

/** Has it run where this worker polls, unless workers poll where it runs: they may have had a queue of another name. */
const ensure = async (client: Client, kept: KeptWorkflow): Promise<void> => {
  const handle = await startOf(client, kept);
  const { taskQueue } = await handle.describe();
  if (taskQueue === kept.options.taskQueue) return;
  if ((await pollersOf(client, "workflow", taskQueue)).length > 0) return;
  await handle.terminate(
    `Nobody polls the task queue ${taskQueue}: it goes on on ${kept.options.taskQueue}`,
  );
  await startOf(client, kept);
};

/**
 * Makes sure, now and every minute until `signal` aborts, that a workflow runs. No payment depends on it;
 * so a failure is a warning only.
 */
export const keepRunning = async (
  client: Client,
  kept: KeptWorkflow,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await ensure(client, kept);
    } catch (error) {
      if (signal.aborted) return;
      Runtime.instance().logger.warn(
        `The ${kept.type} ${kept.options.workflowId} cannot be started: ${String(error)}`,
      );
    }
    await sleep(ENSURED_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};
