import { fileURLToPath } from "node:url";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";

/** The author of the workflows: the project, or the workflows written by hand on the bare SDK. */
export type Author = "ours" | "bare";

const MODULES: Readonly<Record<Author, string>> = {
  ours: import.meta.resolve("@durable-payments/workflows/definitions"),
  bare: import.meta.resolve("./bare.ts"),
};

/** Bundles workflows for production from their sources. Ours are all that a worker of the project has, bundled as there. */
export const bundleOf = (author: Author): Promise<WorkflowBundle> => {
  const workflowsPath = fileURLToPath(MODULES[author]);
  return bundleWorkflowCode({
    workflowsPath,
    plugins: author === "ours" ? [paymentsBundler({ shared: [workflowsPath] })] : [],
    webpackConfigHook: (config) => ({
      ...config,
      mode: "production",
      devtool: "inline-nosources-source-map",
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: new DefaultLogger("WARN"),
  });
};
