import { NativeConnection, type WorkerOptions } from "@temporalio/worker";
import { baseQueue } from "@durable-payments/protocol";
import { CannotStart } from "../cannot-start.ts";
import type { Environment } from "../settings/worker-process.ts";
import { checkNamespaceReady } from "./namespace-ready.ts";

const DEFAULT_NAMESPACE = "default";

/**
 * Check that what a worker is to run has no name of what the plugin runs beside it.
 *
 * @param ours the names of the plugin's activities.
 * @throws CannotStart
 */
export const checkNames = (
  { activities = {}, taskQueue }: WorkerOptions,
  ours: ReadonlyArray<string>,
): void => {
  const base = baseQueue(taskQueue);
  if (base !== taskQueue) {
    throw new CannotStart(
      `PaymentsPlugin polls the task queue ${taskQueue} itself, beside the base queue: create the worker with taskQueue: "${base}".`,
    );
  }
  const taken = Object.keys(activities).filter((name) => ours.includes(name));
  if (taken.length > 0) {
    throw new CannotStart(
      `PaymentsPlugin brings the activities ${taken.join(", ")} itself: leave yours out, or give them other names.`,
    );
  }
};

/**
 * Check that the namespace of a worker has the search attributes that runs need.
 *
 * @throws CannotStart that names the command that registers them.
 */
export const checkNamespace = async (
  { connection, namespace = DEFAULT_NAMESPACE }: WorkerOptions,
  environment: Environment,
): Promise<void> => {
  if (connection !== undefined) return checkNamespaceReady(connection, namespace, environment);
  // The worker will open one as this is, and close it.
  const own = await NativeConnection.connect();
  try {
    await checkNamespaceReady(own, namespace, environment);
  } finally {
    await own.close();
  }
};
