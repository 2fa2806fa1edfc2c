import { rmSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { hashOf, type Manifest, manifestIn } from "./fingerprint.mjs";

/** Few commands need these, and they bring native code, or find files beside their own. */
const EXTERNAL = [
  /^node:/,
  /^@temporalio\/(worker|workflow)/,
  /^@durable-payments\/(replay|worker)/,
];

const entry = fileURLToPath(new URL("../cli.ts", import.meta.url));
const checkout = fileURLToPath(new URL("../../../../", import.meta.url));

const isOurs = (id: string): boolean =>
  /^(apps|packages)\/[\w-]+\/src\//.test(relative(checkout, id).replaceAll("\\", "/"));

/**
 * Builds the command line into a folder: a few files instead of a thousand, and of what they share
 * only what commands use. Each command still loads its own part when it is called.
 */
export const buildCli = async (folder: URL): Promise<void> => {
  const dir = fileURLToPath(folder);
  // Without its manifest it is not used: a build that dies in between leaves none in use.
  rmSync(dir, { recursive: true, force: true });
  const { output } = await build({
    input: entry,
    platform: "node",
    external: EXTERNAL,
    resolve: { conditionNames: ["@durable-payments/source", "node", "default"] },
    // Our modules only define things, but for the entry: what nobody imports is left out.
    treeshake: { moduleSideEffects: (id) => (isOurs(id) && id !== entry ? false : undefined) },
    output: {
      dir,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  const inputs = output
    .flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))
    .filter(isOurs)
    .map((id) => relative(checkout, id));
  const manifest: Manifest = { inputs, hash: hashOf(inputs) };
  writeFileSync(manifestIn(folder), JSON.stringify(manifest));
};
