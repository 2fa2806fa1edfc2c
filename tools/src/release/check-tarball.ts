/**
 * Publish the package in this folder for show, and refuse what should not be in it.
 *
 * Usage, in the folder of a package that is built: node ../../tools/src/release/check-tarball.ts
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { checkout } from "../processes/apps.ts";
import { tarballFaults } from "./tarball.ts";

interface Packed {
  readonly files: ReadonlyArray<{ readonly path: string }>;
}

// Forced: npm otherwise asks the registry, and refuses the version that is released already.
const shown = execFileSync("npm", ["publish", "--dry-run", "--json", "--force"], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
  shell: process.platform === "win32",
});
// npm 11 has an object of packages by name, npm 10 the package itself.
const parsed = JSON.parse(shown) as Packed | Readonly<Record<string, Packed>>;
const packed = Object.hasOwn(parsed, "files")
  ? [parsed as Packed]
  : Object.values(parsed as Readonly<Record<string, Packed>>);
const paths = packed.flatMap(({ files }) => files.map(({ path }) => path));
const faults = tarballFaults(
  new Map(paths.map((path) => [path, readFileSync(path, "utf8")])),
  checkout.replace(/\/$/, ""),
);
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0 || paths.length === 0) process.exitCode = 1;
