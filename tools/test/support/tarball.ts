import { execa } from "execa";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

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
