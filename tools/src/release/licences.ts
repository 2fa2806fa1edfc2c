/** Whether every package of the lock file has a licence that lets it be used here. Run by `npm run check`. */
import { type LockedPackage, readLockFile } from "./lock-file.ts";
import { installedWith, publishedPaths } from "./sbom.ts";

/** SPDX ids of licences that ask for no more than their text and the names of the authors. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Python-2.0",
  "Unlicense",
]);

/** What is not installed with a published package may have these, too: changes of its own files must be given away. */
const FOR_DEVELOPMENT: ReadonlySet<string> = new Set(["MPL-2.0"]);

/** What was read by hand, by name and version. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  // Its package.json says nothing, its file LICENSE is the text of the Unlicense.
  "unionfs@4.6.0": "Unlicense",
};

/** Data, and no code: it asks for the name of its source, which the package itself has. */
const DATA: ReadonlySet<string> = new Set(["caniuse-lite"]);

/** Whether an expression of SPDX leaves a choice that is allowed. */
const isAllowed = (expression: string, allowed: (id: string) => boolean): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(/ or /i)
    .some((choice) => choice.split(/ and /i).every((id) => allowed(id.trim())));

/**
 * Say which packages have no licence that is allowed.
 *
 * @param locked the lock file
 * @param shipped paths of what is installed with a published package
 * @returns a line for each, empty where there is none
 */
export const licenceFaults = (
  locked: ReadonlyMap<string, LockedPackage>,
  shipped: ReadonlySet<string>,
): ReadonlyArray<string> =>
  [...locked.values()].flatMap(({ licence, name, path, version }) => {
    const known = READ_BY_HAND[`${name}@${version}`] ?? licence;
    if (known === undefined)
      return [`${path}@${version} states no licence: read it, and note it in licences.ts`];
    const allowed = (id: string): boolean =>
      PERMISSIVE.has(id) ||
      (!shipped.has(path) && FOR_DEVELOPMENT.has(id)) ||
      (id === "CC-BY-4.0" && DATA.has(name));
    return isAllowed(known, allowed)
      ? []
      : [`${path}@${version} has the licence ${known}, which is not in the list of licences.ts`];
  });

if (import.meta.main) {
  const locked = readLockFile();
  const shipped = new Set(installedWith(publishedPaths(), locked).map(({ path }) => path));
  const faults = licenceFaults(locked, shipped);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
