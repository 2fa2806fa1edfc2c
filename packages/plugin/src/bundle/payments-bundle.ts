import { isRecord } from "@durable-payments/api-core/values";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import {
  type BundleOptions,
  type BundlerPlugin,
  bundleWorkflowCode,
  Runtime,
  type WorkerOptions,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { CannotStart } from "../cannot-start.ts";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];

const pathOf = (url: string): string => fileURLToPath(url);

/** Path of the module that exports the workflows of the project: `payout`, `onboardCardholder`, batches, the tracker. */
const definitionsPath = pathOf(import.meta.resolve("@durable-payments/workflows/definitions"));

const stepsPath = pathOf(import.meta.resolve("@durable-payments/workflows"));
const entryPath = pathOf(import.meta.resolve("@durable-payments/plugin/bundle-entry"));

/** The names by which that module requires the entry that the SDK has generated, and the workflows of the project. */
const SDK_ENTRY = "durable-payments-sdk-entry";
const DEFINITIONS = "durable-payments-definitions";

/** In a checkout the bundler has to read the packages' sources, as Node does: it would take what was built once. */
const conditions = definitionsPath.endsWith(".ts")
  ? { conditionNames: ["@durable-payments/source", "..."] }
  : {};

/** By the name of a run's state a bundle with the steps is known, minified or not. */
const IN_EVERY_BUNDLE = "durable-payments/run@1";

const withOurEntry = (config: WebpackConfig): WebpackConfig => {
  const [generated] = Array.isArray(config.entry) ? config.entry : [];
  if (generated === entryPath) return config;
  if (generated === undefined) {
    throw new CannotStart(
      "This version of the Temporal SDK bundles workflows in another way than PaymentsPlugin knows: use @temporalio/worker 1.24.",
    );
  }
  const { alias } = config.resolve ?? {};
  return {
    ...config,
    entry: [entryPath],
    resolve: {
      ...config.resolve,
      ...conditions,
      alias: {
        ...(isRecord(alias) ? alias : {}),
        [`${SDK_ENTRY}$`]: generated,
        [`${DEFINITIONS}$`]: definitionsPath,
      },
    },
  };
};

/**
 * Configure the SDK's bundler so that a bundle has the project's workflows beside those of its author, the steps loaded
 * once for all runs of a worker, and TypeScript compiled for a Node of today.
 */
export const withPaymentWorkflows = (given: BundleOptions): BundleOptions => {
  const options = paymentsBundler({ shared: [stepsPath, definitionsPath] }).configureBundler(given);
  return {
    ...options,
    webpackConfigHook: (config) => withOurEntry(options.webpackConfigHook?.(config) ?? config),
  };
};

const codeOf = (bundle: WorkflowBundleOption): string | Promise<string> =>
  "code" in bundle ? bundle.code : readFile(bundle.codePath, "utf8");

const checked = async (bundle: WorkflowBundleOption): Promise<WorkflowBundleOption> => {
  if ((await codeOf(bundle)).includes(IN_EVERY_BUNDLE)) return bundle;
  throw new CannotStart(
    "The workflow bundle was made without PaymentsPlugin, and lacks the workflows that payments need. Make it by bundleWorkflowCode({ workflowsPath, plugins: [new PaymentsPlugin()] }).",
  );
};

/**
 * Make the bundle of a worker as the SDK would, once for the workers of all its task queues; take the one that was made
 * ahead where there is one.
 *
 * @param options of the worker; without workflows of its own it runs those of the project alone.
 * @param plugin that is to configure the bundle, beside the other plugins of the worker.
 * @throws CannotStart for a bundle that was made without the plugin.
 */
export const bundleOfWorker = async (
  { bundlerOptions, dataConverter, interceptors, plugins = [], ...options }: WorkerOptions,
  plugin: BundlerPlugin,
): Promise<WorkflowBundleOption> => {
  if (options.workflowBundle !== undefined) return checked(options.workflowBundle);
  const { failureConverterPath, payloadConverterPath } = dataConverter ?? {};
  return checked(
    await bundleWorkflowCode({
      ...bundlerOptions,
      workflowsPath: options.workflowsPath ?? definitionsPath,
      workflowInterceptorModules: interceptors?.workflowModules ?? [],
      ...(failureConverterPath !== undefined && { failureConverterPath }),
      ...(payloadConverterPath !== undefined && { payloadConverterPath }),
      plugins: [...new Set<BundlerPlugin>([...plugins, plugin])],
      logger: Runtime.instance().logger,
    }),
  );
};
