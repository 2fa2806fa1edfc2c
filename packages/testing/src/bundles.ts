import { bundleForReplay } from "@durable-payments/replay";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * From the sources of a checkout the packages that workflows import are taken as sources, too: a build of them may be
 * stale. An installed package has only its build.
 */
const conditionNames =
  extname(import.meta.filename) === ".ts" ? ["@durable-payments/source", "..."] : ["..."];

const bundleForWorker = (workflowsPath: string): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath,
    plugins: [paymentsBundler()],
    webpackConfigHook: (config) => ({ ...config, resolve: { ...config.resolve, conditionNames } }),
    logger: new DefaultLogger("ERROR"),
  });

const MAKERS = {
  worker: bundleForWorker,
  replay: (workflowsPath: string) => bundleForReplay(workflowsPath, [paymentsBundler()]),
};

const made = new Map<string, Promise<WorkflowBundle>>();

/** The module of the workflows that a test runs which names none. */
export const defaultWorkflows = (): string =>
  import.meta.resolve("@durable-payments/workflows/definitions");

/** The path of a module that is given as a path, or as the URL of a file. */
const pathOf = (module: string): string =>
  module.startsWith("file:") ? fileURLToPath(module) : module;

/**
 * Bundle workflows, once in a process: most of a test file's time would be that.
 *
 * @param workflowsPath module that exports the workflows: a path, or the URL of a file.
 * @param use for a worker, or for a replay that shows lines of the sources.
 */
export const bundleOf = (
  workflowsPath: string,
  use: keyof typeof MAKERS,
): Promise<WorkflowBundle> => {
  const path = pathOf(workflowsPath);
  const key = `${use} ${path}`;
  const bundle = made.get(key) ?? MAKERS[use](path);
  made.set(key, bundle);
  return bundle;
};
