/**
 * Packs the package in this folder without publishing it, and refuses a file that does not belong in it.
 *
 * Usage, in the folder of a package that is built: node ../../tools/src/release/tarball.ts
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { checkout } from "../processes.ts";

const BELONGS = /^(?:package\.json|README\.md|LICENSE|(?:dist|template)\/.+)$/;
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

if (import.meta.main) {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--json"], { encoding: "utf8" });
  const paths = [...listed.matchAll(/"path": "(?<path>[^"]+)"/g)].map(([, path = ""]) => path);
  const files = new Map(paths.map((path) => [path, readFileSync(path, "utf8")]));
  const faults = tarballFaults(files, checkout.replace(/\/$/, ""));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0 || paths.length === 0) process.exitCode = 1;
}
