import { extname, join } from "node:path";
import {
  bundleWorkflowCode,
  type BundleOptions,
  type BundlerPlugin,
  type WorkflowBundle,
} from "@temporalio/worker";

const nothing = () => undefined;
const toStandardError = (message: string) => void process.stderr.write(`${message}\n`);

/** The bundler reports each build; only what goes wrong is of interest. */
const quiet: NonNullable<BundleOptions["logger"]> = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: toStandardError,
  error: toStandardError,
};

/** It stands beside this file, as a source or built as this one is. */
const recorder = join(import.meta.dirname, `recorder${extname(import.meta.filename)}`);

/**
 * Bundle workflows from their sources as they are now, with what a replay needs to show where they
 * differ from a history.
 *
 * @param workflowsPath module that exports the workflows
 * @param plugins those with which the worker's bundle is made
 */
export const bundleForReplay = (
  workflowsPath: string,
  plugins: ReadonlyArray<BundlerPlugin> = [],
): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath,
    plugins: [...plugins],
    workflowInterceptorModules: [recorder],
    // Without it the bundler would take a build of the packages, and perhaps a stale one.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
