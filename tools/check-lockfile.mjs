// npm run check: every package is pinned by its hash, on every platform, from no particular registry, and has a licence
// under which it may be used here.
//
// A registry may serve the newest version of a tool without its packages for other platforms. npm then leaves those
// out of the lock file without a word, and `npm ci` fails elsewhere: take a version that is served whole.
//
// Usage: node tools/check-lockfile.mjs [package-lock.json]
import { readFileSync } from "node:fs";

const [, , file = "package-lock.json"] = process.argv;
const { packages } = JSON.parse(readFileSync(file, "utf8"));

/** Whether a package finds another one in its own node_modules, or in one of a folder above it. */
const finds = (path, name) => {
  const folders = path.split("/");
  return (
    folders.some((_, depth) => {
      const above = folders.slice(0, folders.length - depth).join("/");
      return packages[`${above}/node_modules/${name}`];
    }) || Boolean(packages[`node_modules/${name}`])
  );
};

/** SPDX ids of licences that require only their text and the names of the authors. */
const permissive = new Set(
  "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT Python-2.0 Unlicense".split(
    " ",
  ),
);
/** Read by a person: tools of development that nobody ships, and a package whose LICENSE is the text of the Unlicense. */
const readByHand =
  /\/(?:lightningcss(?:-[\w-]+)?: MPL-2\.0|caniuse-lite: CC-BY-4\.0|unionfs: undefined)$/;

/** Whether an SPDX expression offers a choice that is allowed. */
const isAllowed = (expression = "") =>
  expression
    .replaceAll(/[()]/g, "")
    .split(/ or /i)
    .some((choice) => choice.split(/ and /i).every((id) => permissive.has(id.trim())));

const problemsOf = ([
  path,
  { link, integrity, resolved, license, dependencies, optionalDependencies },
]) => {
  if (link) return [];
  const isInstalled = path.includes("node_modules/");
  return [
    ...(isInstalled && !integrity?.startsWith("sha512-") ? [`${path} has no SHA-512`] : []),
    ...(isInstalled && !isAllowed(license) && !readByHand.test(`${path}: ${license}`)
      ? [`${path} has the licence ${license}: read it, and note it in check-lockfile.mjs`]
      : []),
    ...(isInstalled && resolved ? [`${path} names a registry: ${resolved}`] : []),
    ...Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !finds(path, name))
      .map((name) => `${name} is missing, which ${path || "the workspace"} depends on`),
  ];
};

const problems = Object.entries(packages).flatMap(problemsOf);
for (const problem of problems) console.error(`${file}: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
