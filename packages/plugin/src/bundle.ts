import { WORKFLOW } from "@durable-payments/protocol";
import { OWN_OPERATIONS } from "@durable-payments/protocol/calls";
import { paymentsBundler } from "@durable-payments/workflows/bundler-plugin";
import {
  type BundlerPlugin,
  bundleWorkflowCode,
  Runtime,
  type WorkerOptions,
  type WorkflowBundleOption,
} from "@temporalio/worker";
import assert from "node:assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { CannotStart } from "./settings.ts";

const pathOf = (url: string): string => fileURLToPath(url);

/** Path of the module that exports the workflows of the project, for a worker that has no others. */
const definitionsPath = pathOf(import.meta.resolve("@durable-payments/workflows/definitions"));

const stepsPath = pathOf(import.meta.resolve("@durable-payments/workflows"));

/** Configures the SDK's bundler so that the steps are loaded once for all runs of a worker. */
export const bundler = paymentsBundler({ shared: [stepsPath, definitionsPath] });

/** The names that a bundle exports, and the operations of a user's own that its modules make steps of. */
interface BundleNames {
  readonly exported: ReadonlyArray<string>;
  readonly needed: ReadonlySet<string>;
}

/** Loads a bundle as the SDK does, and returns its names; undefined if it cannot be loaded here. */
const namesOf = (code: string): BundleNames | undefined => {
  const globals = { AbortController, URL, URLSearchParams, TextDecoder, TextEncoder, console };
  const needed = new Set<string>();
  try {
    const context = createContext({
      ...globals,
      [OWN_OPERATIONS]: needed,
      assert,
      AsyncLocalStorage,
      __webpack_module_cache__: {},
    });
    new Script(`${code}\nglobalThis.workflows = __TEMPORAL__.importWorkflows();`).runInContext(
      context,
    );
    const workflows: unknown = context["workflows"];
    // A CommonJS module may export anything, such as one function without a name.
    return { exported: Object.keys(workflows ?? {}), needed };
  } catch {
    // The SDK says why, with the line of the workflow.
    return undefined;
  }
};

/**
 * @throws CannotStart for a bundle without the workflows that the plugin keeps running, or that the tools start; or with
 *   steps of operations that the worker does not have, whose activities Temporal would retry forever.
 */
const checkBundle = async (
  bundle: WorkflowBundleOption,
  operations: object,
): Promise<WorkflowBundleOption> => {
  const code = "code" in bundle ? bundle.code : await readFile(bundle.codePath, "utf8");
  const names = namesOf(code);
  if (names === undefined) return bundle;
  const undefinedHere = [...names.needed].filter((name) => !Object.hasOwn(operations, name));
  if (undefinedHere.length > 0) {
    const defined = Object.keys(operations).join(", ") || "none";
    throw new CannotStart(
      `The workflows call ownOperation for ${undefinedHere.join(", ")}, but the operations of this worker are: ${defined}. Correct the name, or give the operation to new PaymentsPlugin, or in a test to usePaymentsTest or createPaymentsTest: { operations: { ${undefinedHere.join(", ")} } }.`,
    );
  }
  const missing = Object.values(WORKFLOW)
    .toSorted()
    .filter((name) => !names.exported.includes(name));
  if (missing.length === 0) return bundle;
  throw new CannotStart(
    `The workflows of this worker lack ${missing.join(", ")}. Add this line to the module at workflowsPath: export { ${Object.values(WORKFLOW).toSorted().join(", ")} } from "durable-payments/workflows";`,
  );
};

/**
 * Makes the bundle of a worker as the SDK would, once for the workers of all its task queues; or takes the one that the
 * worker is given.
 *
 * @param options of the worker; without workflows of its own it runs those of the project alone.
 * @param plugin that configures the bundle, in addition to the other plugins of the worker.
 * @param operations those of the worker's own.
 * @throws CannotStart for a bundle without the workflows of payments, or that needs another operation.
 */
export const bundleOfWorker = async (
  { bundlerOptions, dataConverter, interceptors, plugins = [], ...options }: WorkerOptions,
  plugin: BundlerPlugin,
  operations: object,
): Promise<WorkflowBundleOption> => {
  if (options.workflowBundle !== undefined) return checkBundle(options.workflowBundle, operations);
  const { failureConverterPath, payloadConverterPath } = dataConverter ?? {};
  return checkBundle(
    await bundleWorkflowCode({
      ...bundlerOptions,
      workflowsPath: options.workflowsPath ?? definitionsPath,
      workflowInterceptorModules: interceptors?.workflowModules ?? [],
      ...(failureConverterPath !== undefined && { failureConverterPath }),
      ...(payloadConverterPath !== undefined && { payloadConverterPath }),
      plugins: [...new Set<BundlerPlugin>([...plugins, plugin])],
      logger: Runtime.instance().logger,
    }),
    operations,
  );
};
