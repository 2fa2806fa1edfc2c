// npm run check: every package is pinned by its hash, on every platform, and from no particular registry.
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

const problemsOf = ([path, { link, integrity, resolved, dependencies, optionalDependencies }]) => {
  if (link) return [];
  const isInstalled = path.includes("node_modules/");
  return [
    ...(isInstalled && !integrity?.startsWith("sha512-") ? [`${path} has no SHA-512`] : []),
    ...(isInstalled && resolved ? [`${path} names a registry: ${resolved}`] : []),
    ...Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !finds(path, name))
      .map((name) => `${name} is missing, which ${path || "the workspace"} depends on`),
  ];
};

const problems = Object.entries(packages).flatMap(problemsOf);
for (const problem of problems) console.error(`${file}: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
