import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "rolldown";

/** The apps that are bundled, so that they start sooner. */
export type BundledApp = "starter" | "worker";

const EXTERNAL: Readonly<Record<BundledApp, ReadonlyArray<RegExp>>> = {
  // Few commands need these, and they bring native code, or find files in their own folder.
  starter: [/^@temporalio\/(testing|worker|workflow)/, /^@durable-payments\/(replay|simulator)/],
  // The SDK loads all of itself; what is built in would be there twice.
  worker: [/^@temporalio\//],
};

/** The entry of each app, and the name of its built file. */
const ENTRY: Readonly<Record<BundledApp, string>> = { starter: "main", worker: "command" };

/** The worker as it is built, from the command line that is built: by its name, a checkout would run its source. */
const builtWorker: Plugin = {
  name: "built-worker",
  resolveId: (id) =>
    id === "@durable-payments/worker/command"
      ? { id: "../../../worker/dist/app/command.mjs", external: true }
      : undefined,
};

/** An import of a CommonJS module in a bundle, which runs the module: by its name, in its place, or for nothing else. */
const RUNS = [
  /^var (import_[\w$]+) = (?:\/\* @__PURE__ \*\/ )?((?:__toESM\()?require_[\w$]+\(\)(?:, 1\))?);$/gm,
  /^var (import_[\w$]+) = (\(\/\* @__PURE__ \*\/ __commonJSMin\([^]*?^\}\)\)\)\(\));$/gm,
];

const LAZY = `const __lazy = (load) => {
  let module;
  return new Proxy({}, { get: (_, name) => Reflect.get((module ??= load()), name) });
};
`;

/**
 * Runs a CommonJS module when something of it is first used. A bundle runs all of them as it is loaded: gRPC and the messages
 * of Temporal, of which most commands use nothing, would be half the start-up time of each.
 */
const lazyCommonJs: Plugin = {
  name: "lazy-common-js",
  renderChunk: (code) => {
    const lazily = RUNS.reduce(
      (text, runs) => text.replaceAll(runs, "var $1 = __lazy(() => $2);"),
      code.replaceAll(/^require_[\w$]+\(\);$/gm, ""),
    );
    return lazily === code ? undefined : LAZY + lazily;
  },
};

/**
 * Options of rolldown that bundle an app: a few files instead of a thousand, and of what they share
 * only the parts that the app uses. Modules that the app imports on demand are still loaded on demand.
 *
 * @param folder the folder of the bundle, within the checkout: external packages are found from there
 * @param entry the file that runs the app; another one than the app's own in tests
 */
export const appBundle = (
  app: BundledApp,
  folder: URL = new URL(`../../apps/${app}/dist/app/`, import.meta.url),
  entry: URL = new URL(`../../apps/${app}/src/${ENTRY[app]}.ts`, import.meta.url),
): BuildOptions => ({
  input: { [ENTRY[app]]: fileURLToPath(entry) },
  plugins: app === "starter" ? [builtWorker, lazyCommonJs] : [],
  platform: "node",
  external: [/^node:/, ...EXTERNAL[app]],
  resolve: { conditionNames: ["@durable-payments/source", "node", "default"] },
  // A module is loaded on demand by some commands and at once by others.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: fileURLToPath(folder),
    cleanDir: true,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  },
});

/** Bundles an app as its `build` target does; see {@link appBundle} for the parameters. */
export const buildApp = async (...parameters: Parameters<typeof appBundle>): Promise<void> => {
  await build(appBundle(...parameters));
};
