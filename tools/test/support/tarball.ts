import { execa } from "execa";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isBuiltin } from "node:module";
import { join, posix, relative } from "node:path";
import ts from "typescript";
import type { readManifest } from "../../src/packages/manifests.ts";

const BELONGS = /^(?:package\.json|README\.md|LICENSE|openapi\.json|(?:dist|template)\/.+)$/;
/** Traces of the build and its tests; the template has tests of its own. */
const OF_THE_BUILD =
  /\.(?:map|tsbuildinfo)$|(?:^|\/)(?:node_modules|out-tsc|fixtures)\/|^dist\/.*(?:\/tests?\/|\.(?:test|spec)\.[jt]s$)|(?:^|\/)\.env/;

/**
 * Finds what should not be in a package that strangers install.
 *
 * @param files the text of each file by its path
 * @param folder that the package was built in, which no file may name
 * @returns a sentence for each fault, which begins with the file
 */
export const tarballFaults = (
  files: ReadonlyMap<string, string>,
  folder: string,
): ReadonlyArray<string> =>
  [...files].flatMap(([path, text]) => [
    ...(BELONGS.test(path) && !OF_THE_BUILD.test(path) ? [] : [`${path} does not belong in it`]),
    ...(withInlineMaps(text).includes(folder)
      ? [`${path} names the folder that it was built in`]
      : []),
  ]);

/** Returns a text in which source maps in Base64 are readable. */
const withInlineMaps = (text: string): string =>
  text.replaceAll(/(?<=sourceMappingURL=data:[^,\s]*;base64,)[\w+/=]+/g, (map) =>
    Buffer.from(map, "base64").toString(),
  );

/** Returns the files of a packed package by their paths. */
export const filesIn = async (tarball: string): Promise<ReadonlyMap<string, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "tarball-"));
  try {
    await execa("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"]);
    const entries = globSync("**", { cwd: folder, withFileTypes: true });
    return new Map(
      entries
        .filter((entry) => entry.isFile())
        .map(({ name, parentPath }) => join(parentPath, name))
        .map((file) => [relative(folder, file), readFileSync(file, "utf8")]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** A packed package: its files, and the file of each entry by its name, such as `./effect`. */
export interface Packed {
  readonly files: ReadonlyMap<string, string>;
  readonly entries: Readonly<Record<string, string>>;
}

/** Reads a packed package. */
export const unpacked = async (tarball: string): Promise<Packed> => {
  const files = await filesIn(tarball);
  const { exports } = JSON.parse(files.get("package.json") ?? "") as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const entries = Object.entries(exports).map(([name, target]) => [
    name,
    typeof target === "string" ? target : target.default,
  ]);
  return { files, entries: Object.fromEntries(entries) };
};

/**
 * Finds what is wrong with the peers of a package. npm installs the required ones for everybody: those of the entry `.`,
 * or, if there is none, those of two entries or more. The entry for tests does not count, because no deployed program
 * imports it. A package that is loaded by a call of `import` may be either: every program may make this call, or few.
 *
 * @returns a sentence for each fault
 */
export const peerFaults = (
  {
    dependencies,
    name,
    peers,
    requiredPeers,
  }: Pick<ReturnType<typeof readManifest>, "dependencies" | "name" | "peers" | "requiredPeers">,
  packed: Readonly<Record<string, Packed>>,
): ReadonlyArray<string> => {
  const usersOf = (isLater: boolean): ReadonlyMap<string, ReadonlyArray<string>> => {
    const users = new Map<string, Array<string>>();
    for (const entry of Object.keys(packed[name]?.entries ?? {})) {
      for (const used of packagesOf(packed, name, entry, isLater)) {
        users.set(used, [...(users.get(used) ?? []), entry]);
      }
    }
    return users;
  };
  const users = usersOf(true);
  const usersAtOnce = usersOf(false);
  const isForAll = (peer: string, by: ReadonlyMap<string, ReadonlyArray<string>>): boolean => {
    const programs = (by.get(peer) ?? []).filter((entry) => entry !== "./testing");
    return packed[name]?.entries["."] === undefined ? programs.length > 1 : programs.includes(".");
  };
  const namesOf = (used: string) => (users.get(used) ?? []).join(", ");
  return [
    ...[...users.keys()]
      .filter((used) => !dependencies.includes(used) && peers[used] === undefined)
      .map((used) => `${name} does not name ${used}, which ${namesOf(used)} needs`),
    ...Object.keys(peers)
      .filter((peer) => !users.has(peer))
      .map((peer) => `${name} has the peer ${peer}, which no entry needs`),
    ...Object.keys(peers)
      .filter((peer) => !requiredPeers.includes(peer) && isForAll(peer, usersAtOnce))
      .map((peer) => `${name} must have ${peer} as a required peer: ${namesOf(peer)} needs it`),
    ...requiredPeers
      .filter((peer) => !isForAll(peer, users))
      .map((peer) => `${name} must have ${peer} as an optional peer: ${namesOf(peer)} needs it`),
  ];
};

/**
 * Finds the packages of a registry that an entry needs, by following its imports.
 *
 * @param name of the package whose entry it is; its imports of other packages that are `packed` are followed, too
 * @param isLater also those that a call of `import` loads
 */
const packagesOf = (
  packed: Readonly<Record<string, Packed>>,
  name: string,
  entry: string,
  isLater: boolean,
): ReadonlySet<string> => {
  const found = new Set<string>();
  const seen = new Set<string>();
  const follow = (owner: string, file: string): void => {
    const { files } = packed[owner] ?? { files: new Map<string, string>() };
    if (seen.has(`${owner} ${file}`)) return;
    seen.add(`${owner} ${file}`);
    const text = files.get(file) ?? "";
    for (const { fileName, pos } of ts.preProcessFile(text, true, true).importedFiles) {
      if (!isLater && /\bimport\(\s*$/.test(text.slice(0, pos))) continue;
      if (fileName.startsWith(".")) follow(owner, posix.join(posix.dirname(file), fileName));
      if (fileName.startsWith(".") || isBuiltin(fileName)) continue;
      const parts = fileName.split("/");
      const other = parts.splice(0, fileName.startsWith("@") ? 2 : 1).join("/");
      found.add(other);
      const target = packed[other]?.entries[["."].concat(parts).join("/")];
      if (target !== undefined) follow(other, posix.normalize(target));
    }
  };
  follow(name, posix.normalize(packed[name]?.entries[entry] ?? ""));
  return found;
};
