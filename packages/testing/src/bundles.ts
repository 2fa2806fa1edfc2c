import { paymentsPluginIn } from "@durable-payments/plugin/internal";
import { bundleForReplay } from "@durable-payments/replay";
import type { DataConverter } from "@temporalio/common";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { fileURLToPath } from "node:url";

/** The plugin makes the bundle of a worker: the workflows of payments and of the user. */
const plugins = [paymentsPluginIn({ environment: {}, skipsTime: false }, {})];

/** The parts of a data converter that run in the workflow sandbox. */
type ConverterPaths = Pick<DataConverter, "failureConverterPath" | "payloadConverterPath">;

const made = new Map<string, Promise<WorkflowBundle>>();

/** The module of the workflows of a test that names none. */
export const defaultWorkflows = (): string =>
  import.meta.resolve("@durable-payments/workflows/definitions");

/**
 * Bundles workflows, once in a process: this takes most of the time of a test file.
 *
 * @param workflowsPath module that exports the workflows: a path, or the URL of a file.
 * @param use for a worker, or for a replay that shows lines of the sources.
 * @param converter of the worker.
 */
export const bundleOf = (
  workflowsPath: string,
  use: "worker" | "replay",
  { failureConverterPath, payloadConverterPath }: ConverterPaths = {},
): Promise<WorkflowBundle> => {
  const path = workflowsPath.startsWith("file:") ? fileURLToPath(workflowsPath) : workflowsPath;
  const key = JSON.stringify([use, path, failureConverterPath, payloadConverterPath]);
  const bundle =
    made.get(key) ??
    (use === "replay"
      ? bundleForReplay(path, plugins)
      : bundleWorkflowCode({
          workflowsPath: path,
          plugins,
          logger: new DefaultLogger("ERROR"),
          ...(failureConverterPath !== undefined && { failureConverterPath }),
          ...(payloadConverterPath !== undefined && { payloadConverterPath }),
        }));
  made.set(key, bundle);
  return bundle;
};
