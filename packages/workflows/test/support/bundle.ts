import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, type WorkflowBundle } from "@temporalio/worker";
import { paymentsBundler } from "../../src/bundler-plugin.ts";
import { quiet } from "./quiet.ts";

/** Path of the module that exports the workflows. */
export const definitions = fileURLToPath(
  new URL("../../src/definitions/index.ts", import.meta.url),
);

/** The plugin by which the worker app bundles them. */
export const asWorker = paymentsBundler({ shared: [definitions] });

/** Bundles the workflows, and those that only tests run, from their sources. */
export const bundleWorkflows = (): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    plugins: [asWorker],
    workflowsPath: fileURLToPath(new URL("./workflows.ts", import.meta.url)),
    // Without it the bundler would take a build of the packages, and perhaps a stale one.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
