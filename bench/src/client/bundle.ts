import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/*
 * The client as a program gets it that needs promises alone: one file for the import, and one for the first call, with
 * Effect and undici inside. Most of what an import costs is files: 300 of them, of which nine tenths are not used.
 */

/** Of undici, the client uses three modules; the whole of it, with fetch and WebSocket, is twice as much. */
const UNDICI = ["dispatcher/agent", "dispatcher/env-http-proxy-agent", "core/connect"];
const NAMES = ["Agent", "EnvHttpProxyAgent", "buildConnector"];

const undici = {
  name: "undici",
  resolveId: (id: string) => (id === "undici" ? "\0undici" : undefined),
  load: (id: string) =>
    id === "\0undici"
      ? UNDICI.map((file, at) => {
          const path = join(
            dirname(fileURLToPath(import.meta.resolve("undici"))),
            `lib/${file}.js`,
          );
          return `export { default as ${NAMES[at]} } from ${JSON.stringify(path)};`;
        }).join("\n")
      : undefined,
};

const entry = fileURLToPath(import.meta.resolve("@durable-payments/client"));

/** Where the bundle of this run is, handed on to the processes that are measured. */
export const bundlePath = process.env["BENCH_CLIENT"] ?? "";

/** Bundles the client, and returns the path of its entry. */
export const bundleClient = async (): Promise<string> => {
  const dir = mkdtempSync(join(tmpdir(), "bench-client-"));
  const bundle = await rolldown({
    input: { index: entry },
    platform: "node",
    plugins: [undici],
    resolve: { conditionNames: ["@durable-payments/source", "node", "import", "default"] },
  });
  await bundle.write({ dir, format: "esm", minify: true, entryFileNames: "[name].mjs" });
  await bundle.close();
  return join(dir, "index.mjs");
};
