import { rmSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { checkout } from "../processes/apps.ts";
import { type BuiltApp, entryOf, hashOf, type Manifest, manifestIn } from "./built-app.mjs";

const EXTERNAL: Readonly<Record<BuiltApp, ReadonlyArray<RegExp>>> = {
  // Few commands need these, and they bring native code, or find files beside their own.
  starter: [/^@temporalio\/(worker|workflow)/, /^@durable-payments\/(replay|worker)/],
  // The SDK loads all of itself; what is built in would be there twice.
  worker: [/^@temporalio\//],
};

const isOurs = (id: string): boolean =>
  /^(apps|packages)\/[\w-]+\/src\//.test(relative(checkout, id).replaceAll("\\", "/"));

/**
 * Builds an app into a folder: a few files instead of a thousand, and of what they share only what
 * the app uses. What the app imports on demand is still loaded on demand.
 *
 * @param entryFile another file that runs the app, such as a test's
 */
export const buildApp = async (
  app: BuiltApp,
  folder: URL,
  entryFile: URL = entryOf(app),
): Promise<void> => {
  const dir = fileURLToPath(folder);
  const entry = fileURLToPath(entryFile);
  // Without its manifest it is not used: a build that dies in between leaves none in use.
  rmSync(dir, { recursive: true, force: true });
  const modules = new Set<string>();
  await build({
    input: { main: entry },
    platform: "node",
    external: [/^node:/, ...EXTERNAL[app]],
    resolve: { conditionNames: ["@durable-payments/source", "node", "default"] },
    // Our modules only define things, but for the entry: what nobody imports is left out.
    treeshake: { moduleSideEffects: (id) => (isOurs(id) && id !== entry ? false : undefined) },
    // All that is read counts, also where a constant or a name is all that comes of it.
    plugins: [{ name: "inputs", moduleParsed: ({ id }) => void modules.add(id) }],
    output: {
      dir,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  const inputs = [...modules].filter(isOurs).map((id) => relative(checkout, id));
  const manifest: Manifest = { inputs, hash: hashOf(inputs) };
  writeFileSync(manifestIn(folder), JSON.stringify(manifest));
};
