import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import { bundleWorkflowCode, type BundleOptions, type WorkflowBundle } from "@temporalio/worker";
import { definitionsPath } from "./fingerprint.ts";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];

/** Lets the bundler read the workspace's sources; without it, it would take a stale `dist`. */
const fromSource = (config: WebpackConfig): WebpackConfig => ({
  ...config,
  resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
});

/** A bundle for production: small, with source maps that hold no sources. */
const forProduction = (config: WebpackConfig): WebpackConfig => ({
  ...fromSource(config),
  mode: "production",
  devtool: "inline-nosources-source-map",
});

/** Bundles workflow definitions from their sources, by default those of this project. */
export const buildBundle = ({
  production,
  workflowsPath = definitionsPath,
}: {
  readonly production: boolean;
  readonly workflowsPath?: string;
}): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath,
    plugins: [paymentsBundler({ shared: [workflowsPath] })],
    webpackConfigHook: production ? forProduction : fromSource,
    logger: quiet,
  });

const nothing = () => undefined;

/** The bundler reports each build; only what goes wrong is of interest. */
const quiet: NonNullable<BundleOptions["logger"]> = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: (message) => process.stderr.write(`${message}\n`),
  error: (message) => process.stderr.write(`${message}\n`),
};
