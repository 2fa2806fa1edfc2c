/** Checks that every package of the lock file has a licence under which it may be used here. */
import { type LockedPackage, readLockFile, shippedPackages } from "./lock-file.ts";

/** SPDX ids of licences that require only their text and the names of the authors. */
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

/** Allowed for development only: changes of its own files must be published. */
const FOR_DEVELOPMENT = "MPL-2.0";

/** By name and version: its package.json says nothing, its file LICENSE is the text of the Unlicense. */
const READ_BY_HAND: Readonly<Record<string, string>> = { "unionfs@4.6.0": "Unlicense" };

/** Whether an SPDX expression offers a choice that is allowed. */
const isAllowed = (expression: string, allowed: (id: string) => boolean): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(/ or /i)
    .some((choice) => choice.split(/ and /i).every((id) => allowed(id.trim())));

/**
 * Returns a line for each package whose licence is not allowed.
 *
 * @param shipped paths of what is in a published package or installed with it
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
      (!shipped.has(path) && id === FOR_DEVELOPMENT) ||
      // Data, which requires the name of its source, and has it.
      (id === "CC-BY-4.0" && name === "caniuse-lite");
    return isAllowed(known, allowed)
      ? []
      : [`${path}@${version} has the licence ${known}, which is not in the list of licences.ts`];
  });

if (import.meta.main) {
  const locked = readLockFile();
  const faults = licenceFaults(locked, new Set(shippedPackages(locked).map(({ path }) => path)));
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
