import { fileURLToPath } from "node:url";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";

/** Whose workflows: the project's, or those hand-written on the bare SDK. */
export type Author = "ours" | "bare";

const definitions = fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions"));
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Bundles workflows for production from their sources, ours as a worker of the project does it. */
const bundle = (author: Author, workflowsPath: string): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
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

/** The payout and the onboarding alone. */
export const bundleOf = (author: Author): Promise<WorkflowBundle> =>
  bundle(author, fileOf(author === "ours" ? "./ours.ts" : "./bare.ts"));

/** All workflows of the project, as its worker has them. */
export const bundleOfWorker = (): Promise<WorkflowBundle> => bundle("ours", definitions);
