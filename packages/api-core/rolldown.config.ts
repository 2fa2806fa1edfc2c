/*
 * The package as it is published. The entries share the classes of errors (`errors.ts`), and nothing else that anybody
 * compares.
 *
 * `.`, the promise client, has what it uses of Effect and undici inside, in one file for the import and one for the first
 * call. Its users need neither: Effect alone has 60 MB and 300 files to load, of which nine tenths are not used. Its
 * declarations have the types inside for the same reason.
 *
 * The other entries import Effect and undici of the program, as a library for Effect has to.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "rolldown";
import { esmExternalRequirePlugin } from "rolldown/plugins";
import { dts } from "rolldown-plugin-dts";

const ERRORS = /(?:^|\/)errors(?:\.d)?\.ts$/;

/** Of undici, the client uses three modules; the whole of it, with fetch and WebSocket, is twice as much. */
const UNDICI = {
  Agent: "dispatcher/agent",
  EnvHttpProxyAgent: "dispatcher/env-http-proxy-agent",
  buildConnector: "core/connect",
};

const undici: Plugin = {
  name: "undici",
  resolveId: (id) => (id === "undici" ? "\0undici" : undefined),
  load: (id) => {
    if (id !== "\0undici") return undefined;
    const lib = join(dirname(fileURLToPath(import.meta.resolve("undici"))), "lib");
    return Object.entries(UNDICI)
      .map(([name, file]) => `export { default as ${name} } from "${lib}/${file}.js";`)
      .join("\n");
  },
};

/** The licences of the packages whose code is inside. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const packages = new Set(
      Object.values(bundle)
        .flatMap((part) => (part.type === "chunk" ? part.moduleIds : []))
        .flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? []),
    );
    const source = [...packages].toSorted().map((folder) => {
      const [licence = ""] = globSync("LICENSE*", { cwd: folder });
      const name = relative(join(folder, "../.."), folder).replace("node_modules/", "");
      return `${name}\n\n${readFileSync(join(folder, licence), "utf8").trim()}\n`;
    });
    this.emitFile({ type: "asset", fileName: "LICENSES", source: source.join("\n---\n\n") });
  },
};

/** The module of the errors stays one file, beside the folder of the promise client. */
const sharedErrors: Plugin = {
  name: "shared-errors",
  resolveId: (id) => (ERRORS.test(id) ? { id: "../errors.js", external: true } : undefined),
};

/**
 * Gives a type its global name back: where Effect has a value of that name, as `Record`, the plugin takes the type for the
 * value, and renames both.
 */
const globalTypes: Plugin = {
  name: "global-types",
  renderChunk: (code) =>
    code.replaceAll(
      /(?<!\b(?:as|const|namespace|typeof) )\b(Array|PropertyKey|Record)\$1\b(?!\.)/g,
      "$1",
    ),
};

const names = ["contract", "credentials", "decimal", "effect", "settings", "values"];

const entriesIn = (folder: string, extension: string) => ({
  errors: `${folder}/client/errors${extension}`,
  ...Object.fromEntries(names.map((name) => [name, `${folder}/${name}${extension}`])),
});

const declarations = "out-tsc/lib";
const installed = [/^effect(?:\/|$)/, /^undici/, /^ibantools/, /^fastest-levenshtein/];
const output = { dir: "dist", chunkFileNames: "[name]-[hash].js", cleanDir: true };
const promises = {
  dir: "dist/promise",
  chunkFileNames: "[name]-[hash].js",
  // Node shows the line of an uncaught error: with all code in one line, that is a screenful of it.
  minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
};

export default defineConfig([
  { platform: "node", input: entriesIn("src", ".ts"), external: installed, output },
  {
    input: entriesIn(declarations, ".d.ts"),
    external: installed,
    plugins: [dts({ dtsInput: true, tsconfig: false })],
    output: { dir: "dist" },
  },
  {
    platform: "node",
    input: { index: "src/index.ts" },
    // Without it, `require` is made of import.meta.url, which a bundle of the user in the format of CommonJS does not have.
    plugins: [sharedErrors, undici, esmExternalRequirePlugin({ external: [/^node:/] }), licences],
    output: promises,
  },
  {
    input: { index: `${declarations}/index.d.ts` },
    plugins: [sharedErrors, dts({ dtsInput: true, tsconfig: false }), globalTypes],
    output: { dir: "dist/promise" },
  },
]);
