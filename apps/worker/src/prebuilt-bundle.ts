import { failureConverterPath } from "@durable-payments/codec";
import { PaymentsPlugin } from "@durable-payments/plugin";
import {
  bundleWorkflowCode,
  type BundleOptions,
  DefaultLogger,
  Runtime,
  type WorkerOptions,
  type WorkflowBundle,
} from "@temporalio/worker";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

type WebpackConfig = Parameters<NonNullable<BundleOptions["webpackConfigHook"]>>[0];

const definitionsPath = fileURLToPath(
  import.meta.resolve("@durable-payments/workflows/definitions"),
);

/** From sources, it bundles at each start: an earlier build may be of other sources. */
const isCheckout = definitionsPath.endsWith(".ts");

/** Folder into which `npm run build` writes bundles, wherever this code itself was built. */
export const builtFolder = (): string =>
  process.env["PAYMENTS_WORKFLOW_BUNDLE"] ||
  fileURLToPath(new URL("dist", import.meta.resolve("@durable-payments/worker/package.json")));

/** The bundles that are built, and the failure converter of each. */
export const BUNDLES = [
  { name: "workflow-bundle.js", converter: undefined },
  { name: "workflow-bundle-encrypted.js", converter: failureConverterPath },
] as const;

/** The bundler reports each build; only errors matter. */
const quiet = new DefaultLogger("WARN", ({ level, message }) => {
  void Runtime.instance().logger.log(level, message);
});

/** A bundle for production: small, with source maps that hold no sources, and no path of the build folder. */
const forProduction = (config: WebpackConfig): WebpackConfig => ({
  ...config,
  mode: "production",
  devtool: "inline-nosources-source-map",
  output: { ...config.output, devtoolModuleFilenameTemplate: "[resource-path]" },
});

const bundle = (
  converter: string | undefined,
  hook: (config: WebpackConfig) => WebpackConfig,
): Promise<WorkflowBundle> =>
  bundleWorkflowCode({
    workflowsPath: definitionsPath,
    ...(converter !== undefined && { failureConverterPath: converter }),
    plugins: [new PaymentsPlugin()],
    webpackConfigHook: hook,
    logger: quiet,
  });

/** Builds a bundle for production into a folder. */
export const writeBundle = async (
  { converter, name }: (typeof BUNDLES)[number],
  folder: string,
): Promise<string> => {
  const { code } = await bundle(converter, forProduction);
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, code);
  return file;
};

/**
 * Returns the bundle for a data converter: that of `PAYMENTS_WORKFLOW_BUNDLE`, a built one, or a new one; undefined if the
 * converter has a failure converter for which nothing was built.
 */
export const bundleFor = async (
  dataConverter: WorkerOptions["dataConverter"],
  folder: string = builtFolder(),
): Promise<WorkflowBundle | undefined> => {
  const path = dataConverter?.failureConverterPath;
  const built = BUNDLES.find(({ converter }) => converter === path);
  if (built === undefined) return undefined;
  const file = join(folder, built.name);
  const isWanted = !isCheckout || (process.env["PAYMENTS_WORKFLOW_BUNDLE"] ?? "") !== "";
  if (!isWanted || !existsSync(file)) return bundle(path, (config) => config);
  return { code: readFileSync(file, "utf8") };
};
