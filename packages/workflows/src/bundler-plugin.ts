import type { BundleOptions, BundlerPlugin } from "@temporalio/worker";
import { isRecord } from "@durable-payments/client/values";
import { fileURLToPath } from "node:url";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];
type Rule = NonNullable<NonNullable<WebpackConfig["module"]>["rules"]>[number];

/** ECMAScript version of the oldest supported Node. */
const TARGET = "es2022";

/** The SDK compiles TypeScript for ES2017: each private field a weak map, a helper for each spread. */
const withTarget = (rule: Rule): Rule => {
  if (!isRecord(rule) || !isRecord(rule["use"]) || !isRecord(rule["use"]["options"])) return rule;
  const { options } = rule["use"];
  if (!isRecord(options["jsc"])) return rule;
  const jsc = { ...options["jsc"], target: TARGET };
  return { ...rule, use: { ...rule["use"], options: { ...options, jsc } } };
};

/** In a checkout, the bundler must read the packages' sources, as Node does: their build may be older. */
const conditions = import.meta.filename.endsWith(".ts")
  ? { conditionNames: ["@durable-payments/source", "..."] }
  : {};

/** The modules that pass on the trace of a run, and answer its start. */
const interceptorPaths = [
  import.meta.resolve("@durable-payments/workflows/pass-trace"),
  import.meta.resolve("@durable-payments/workflows/early-answer"),
].map((url) => fileURLToPath(url));

/** Options of {@link paymentsBundler}. */
export interface PaymentsBundlerOptions {
  /**
   * Modules, by path or name, without state of a run outside of workflow functions. They are loaded once for all runs of
   * a worker thread, instead of once for each run. Default: the steps of this package.
   */
  readonly shared?: ReadonlyArray<string>;
}

/**
 * Makes a plugin for the SDK's bundler that keeps workflows small: in the bundle, and above all in a worker's cache.
 *
 *     await bundleWorkflowCode({ workflowsPath, plugins: [paymentsBundler()] })
 */
export const paymentsBundler = ({
  shared = ["@durable-payments/workflows"],
}: PaymentsBundlerOptions = {}): Required<BundlerPlugin> => ({
  name: "durable-payments",
  configureBundler: (options) => ({
    ...options,
    workflowInterceptorModules: [
      ...(options.workflowInterceptorModules ?? []),
      ...interceptorPaths,
    ],
    preloadModules: [...(options.preloadModules ?? []), ...shared, ...interceptorPaths],
    webpackConfigHook: (config) => {
      const { module, optimization, resolve, ...rest } =
        options.webpackConfigHook?.(config) ?? config;
      return {
        ...rest,
        resolve: { ...resolve, ...conditions },
        module: { ...module, rules: (module?.rules ?? []).map(withTarget) },
        // Preloaded modules look unused: without this option, webpack would drop those without side effects.
        optimization: { ...optimization, sideEffects: false },
      };
    },
  }),
});
