import { fileURLToPath } from "node:url";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";

/** Whose workflows: the project's, or those hand-written on the bare SDK. */
export type Author = "ours" | "bare";

const paths = {
  ours: fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions")),
  bare: fileURLToPath(new URL("./bare.ts", import.meta.url)),
};

/** The workflows bundled as the worker's build does it, from source. */
export const bundleOf = (author: Author): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath: paths[author],
    webpackConfigHook: (config) => ({
      ...config,
      mode: "production",
      devtool: "inline-nosources-source-map",
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: new DefaultLogger("WARN"),
  });
