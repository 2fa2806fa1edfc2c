import {
  type Client,
  WorkflowIdConflictPolicy,
  type WorkflowStartOptions,
} from "@temporalio/client";
import { Runtime } from "@temporalio/worker";
import { setTimeout as sleep } from "node:timers/promises";

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

/**
 * Makes sure, now and every minute until `signal` aborts, that a workflow runs. No payment depends on it;
 * so a failure is a warning only.
 */
export const keepRunning = async (
  client: Client,
  { options, type }: KeptWorkflow,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await client.workflow.start(type, {
        ...options,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      });
    } catch (error) {
      if (signal.aborted) return;
      Runtime.instance().logger.warn(
        `The ${type} ${options.workflowId} cannot be started: ${String(error)}`,
      );
    }
    await sleep(ENSURED_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
};
