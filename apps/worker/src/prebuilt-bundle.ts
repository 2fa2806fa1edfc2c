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

/** Folder into which `npm run build` writes bundles. */
const packageFolder = (): string =>
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

/** Builds a bundle for production into a folder; default: that of this app. */
export const writeBundle = async (
  { converter, name }: (typeof BUNDLES)[number],
  folder: string = packageFolder(),
): Promise<string> => {
  const { code } = await bundle(converter, forProduction);
  const file = join(folder, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, code);
  return file;
};

/**
 * Returns the prebuilt bundle for a data converter, from the folder of this program or of its package, or a bundle made
 * now; undefined if the converter has its own failure converter, for which nothing was built.
 */
export const bundleFor = async (dataConverter: WorkerOptions["dataConverter"]) => {
  const path = dataConverter?.failureConverterPath;
  const built = BUNDLES.find(({ converter }) => converter === path);
  if (built === undefined) return undefined;
  const folders = [import.meta.dirname, ...(isCheckout ? [] : [packageFolder()])];
  const file = folders.map((folder) => join(folder, built.name)).find((path) => existsSync(path));
  return file === undefined
    ? bundle(path, (config) => config)
    : { code: readFileSync(file, "utf8") };
};
