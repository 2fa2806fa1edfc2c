/**
 * Makes the package that is published out of those of this repository: copies what they and the apps were compiled to
 * into its `dist`, where each import of one of them becomes a path. So each module exists once, and a user installs one
 * package. A package manager's bundled dependencies would do the same with npm alone.
 *
 * Usage, when all packages are built: node tools/src/packages/assemble.ts
 */
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, posix } from "node:path";
import ts from "typescript";
import { checkout } from "../processes.ts";
import { PUBLISHED, readManifest } from "./manifests.ts";

/** Lists the compiled files of a folder, without files whose source is gone and maps to sources that are not copied. */
const compiledOf = (folder: string): ReadonlyArray<string> =>
  globSync("**/*.{ts,cjs}", { cwd: join(checkout, folder, "src") }).flatMap((file) => [
    file.replace(/ts$/, "js"),
    file.replace(/(?=c?[jt]s$)/, "d.").replace(/js$/, "ts"),
  ]);

/** Answers of the command line: programs import it as `durable-payments/json-output.schema.json`. */
const JSON_SCHEMA = "json-output.schema.json";

const SCOPE = "@durable-payments/";
const MAP_COMMENT = /^\/\/# sourceMappingURL=\S+\.map\n?/gm;
const RESOLVED = /(?<=\bimport\.meta\.resolve\(")[^"]+(?="\))/g;

/** The package of a specifier: `@temporalio/worker` of `@temporalio/worker/lib/x`. */
const packageOf = (specifier: string): string =>
  specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** The imports that a module of the published package can resolve; files are paths from the package. */
export interface Importable {
  readonly files: ReadonlySet<string>;
  /** The file of each entry of the repository's packages, by the specifier that imports it. */
  readonly entries: ReadonlyMap<string, string>;
  /** The packages that it installs, and its peers. */
  readonly packages: ReadonlySet<string>;
}

/**
 * Returns a compiled module with paths instead of the repository's packages.
 *
 * @param file the path of its copy
 * @throws Error for an import that the published package could not resolve
 */
export const withPaths = (
  text: string,
  file: string,
  { entries, files, packages }: Importable,
): string => {
  const pathTo = (target: string) => `./${posix.relative(posix.dirname(file), target)}`;
  const resolved = (imported: string): string => {
    // Declarations name the sources that they were made of.
    const specifier = imported.startsWith(".") ? imported.replace(/ts$/, "js") : imported;
    // For its version: all have the same.
    if (/^(?:\.\.\/)+package\.json$/.test(specifier)) return pathTo("package.json");
    const entry = entries.get(specifier);
    if (entry !== undefined) return pathTo(entry);
    const isFound = specifier.startsWith(".")
      ? files.has(posix.join(posix.dirname(file), specifier))
      : isBuiltin(specifier) || packages.has(packageOf(specifier));
    if (isFound) return specifier;
    throw new Error(`${file} imports ${specifier}, which its package does not have.`);
  };
  const parts: Array<string> = [];
  let end = 0;
  for (const { fileName, pos } of ts.preProcessFile(text, true, false).importedFiles) {
    // After the quote.
    parts.push(text.slice(end, pos + 1), resolved(fileName));
    end = pos + 1 + fileName.length;
  }
  parts.push(text.slice(end));
  return parts
    .join("")
    .replaceAll(RESOLVED, (specifier) =>
      specifier.startsWith(SCOPE) ? resolved(specifier) : specifier,
    )
    .replaceAll(MAP_COMMENT, "");
};

const assemble = (): void => {
  const manifests = globSync("{packages,apps}/*/package.json", { cwd: checkout })
    .map((file) => readManifest(posix.dirname(file)))
    .filter(({ isPrivate }) => isPrivate);
  const placeOf = (file: string): string => posix.join("dist", file);
  const entries = new Map(
    manifests.flatMap(({ folder, name, ...manifest }) => [
      [`${name}/package.json`, placeOf(`${folder}/package.json`)] as const,
      ...manifest.entries.map((entry) => [entry.name, placeOf(entry.module)] as const),
    ]),
  );
  const { dependencies, peers } = readManifest(PUBLISHED);
  const packages = new Set([...dependencies, ...Object.keys(peers)]);
  const copies = new Map([
    ...compiledOf(PUBLISHED).map(
      (file) => [placeOf(file), `${PUBLISHED}/out-tsc/lib/${file}`] as const,
    ),
    ...[
      ...globSync("apps/*/dist/{app/**/*.mjs,workflow-bundle*.js}", { cwd: checkout }),
      ...manifests
        .filter(({ folder }) => folder.startsWith("packages/"))
        .flatMap(({ folder }) => compiledOf(folder).map((file) => `${folder}/dist/${file}`)),
    ].map((file) => [placeOf(file), file] as const),
  ]);
  const importable: Importable = { files: new Set(copies.keys()), entries, packages };
  rmSync(join(checkout, PUBLISHED, "dist"), { recursive: true, force: true });
  for (const [to, from] of copies) {
    const target = join(checkout, PUBLISHED, to);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, withPaths(readFileSync(join(checkout, from), "utf8"), to, importable));
  }
  copyFileSync(join(checkout, "docs", JSON_SCHEMA), join(checkout, PUBLISHED, "dist", JSON_SCHEMA));
};

if (import.meta.main) assemble();
