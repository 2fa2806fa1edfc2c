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

/** `.ts` in a checkout that runs from its sources, `.js` where the package is built or installed. */
const extension = extname(import.meta.filename);

/** It stands beside this file, as a source or built as this one is. */
const recorder = join(import.meta.dirname, `recorder${extension}`);

/**
 * From the sources of a checkout the workflows, too, are taken as sources: a build of them may be
 * stale. An installed package has only its build.
 */
const conditionNames = extension === ".ts" ? ["@durable-payments/source", "..."] : ["..."];

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];
type Rule = NonNullable<NonNullable<WebpackConfig["module"]>["rules"]>[number];

/**
 * Source maps are read of the project's own code. Those of installed packages would take their frames
 * to sources that need not be there, by paths that no longer say that they are installed.
 */
const ofOwnCode = (rule: Rule): Rule =>
  typeof rule === "object" && rule?.enforce === "pre" ? { ...rule, exclude: /node_modules/ } : rule;

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
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames },
      module: { ...config.module, rules: config.module?.rules?.map(ofOwnCode) ?? [] },
    }),
    logger: quiet,
  });
