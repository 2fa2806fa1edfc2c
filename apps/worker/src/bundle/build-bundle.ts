import { PaymentsPlugin } from "@durable-payments/plugin";
import {
  bundleWorkflowCode,
  type BundleOptions,
  Runtime,
  type WorkflowBundle,
} from "@temporalio/worker";
import { definitionsPath } from "./fingerprint.ts";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];

/** A bundle for production: small, with source maps that hold no sources. */
const forProduction = (config: WebpackConfig): WebpackConfig => ({
  ...config,
  mode: "production",
  devtool: "inline-nosources-source-map",
});

const asItIs = (config: WebpackConfig): WebpackConfig => config;

/** How a bundle is made. */
export interface BundleSettings {
  readonly production: boolean;
  /** Path of the converter by which workflows encode what they fail with; left out where they do not. */
  readonly failureConverterPath?: string | undefined;
}

/** Bundles the workflows of this project. */
export const buildBundle = ({
  failureConverterPath,
  production,
}: BundleSettings): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath: definitionsPath,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
    plugins: [new PaymentsPlugin()],
    webpackConfigHook: production ? forProduction : asItIs,
    logger: quiet,
  });

const nothing = () => undefined;

/** The bundler reports each build; only what goes wrong is of interest. */
const quiet: NonNullable<BundleOptions["logger"]> = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: (message) => void Runtime.instance().logger.warn(message),
  error: (message) => void Runtime.instance().logger.error(message),
};
