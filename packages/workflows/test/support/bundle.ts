import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, type WorkflowBundle } from "@temporalio/worker";
import { paymentsBundler } from "../../src/bundler-plugin.ts";
import { quiet } from "./quiet.ts";

/** Bundles the workflows, and those that only tests run, from their sources. */
export const bundleWorkflows = (): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    // As the worker app bundles them.
    plugins: [
      paymentsBundler({
        shared: [fileURLToPath(new URL("../../src/definitions/index.ts", import.meta.url))],
      }),
    ],
    workflowsPath: fileURLToPath(new URL("./workflows.ts", import.meta.url)),
    // Without it the bundler would take a build of the packages, and perhaps a stale one.
    webpackConfigHook: (config) => ({
      ...config,
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: quiet,
  });
