import { fileURLToPath } from "node:url";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import {
  type BundlerPlugin,
  bundleWorkflowCode,
  DefaultLogger,
  type WorkflowBundle,
} from "@temporalio/worker";

/** Whose workflows: the project's, or those hand-written on the bare SDK. */
export type Author = "ours" | "bare";

/** Bundles workflows for production from their sources, both authors' alike but for plugins. */
const bundle = (
  workflowsPath: string,
  plugins: ReadonlyArray<BundlerPlugin> = [],
  failureConverterPath?: string,
): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
    plugins: [...plugins],
    webpackConfigHook: (config) => ({
      ...config,
      mode: "production",
      devtool: "inline-nosources-source-map",
      resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
    }),
    logger: new DefaultLogger("WARN"),
  });

/** Bundles workflows of the project as its worker does. */
export const bundleOurs = (
  workflowsPath: string,
  failureConverterPath?: string,
): Promise<WorkflowBundle> =>
  bundle(workflowsPath, [paymentsBundler({ shared: [workflowsPath] })], failureConverterPath);

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The payout and the onboarding alone. */
export const bundleOf = (author: Author, failureConverterPath?: string): Promise<WorkflowBundle> =>
  author === "ours"
    ? bundleOurs(fileOf("./ours.ts"), failureConverterPath)
    : bundle(fileOf("./bare.ts"));

/** All workflows of the project, as its worker has them. */
export const bundleOfWorker = (): Promise<WorkflowBundle> =>
  bundleOurs(fileURLToPath(import.meta.resolve("@durable-payments/workflows/definitions")));
