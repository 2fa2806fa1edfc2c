import { isRecord } from "@durable-payments/api-core/values";
import { execa } from "execa";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { strangersEnvironment } from "./environment.ts";

/** A registry that answers nothing would keep npm for ever. */
const WITHIN_MS = 180_000;

/** What npm has put into a folder. */
export interface Installed {
  /** Every package with its place: `node_modules/effect`. */
  readonly packages: ReadonlyArray<{ readonly path: string; readonly version: string }>;
  readonly megabytes: number;
}

/**
 * Install packages into an empty folder, as npm does by default.
 *
 * @param folder an existing folder outside of the checkout.
 * @param dependencies version, range or `file:` address of each package.
 * @param options `binaries`: folder whose Node runs npm.
 * @throws Error of npm, with what it printed.
 */
export const installPackages = async (
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  options: { readonly binaries?: string } = {},
): Promise<Installed> => {
  const manifest = { name: "outside", private: true, type: "module", dependencies };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];
  await execa("npm", ["install", ...flags], {
    cwd: folder,
    timeout: WITHIN_MS,
    env: strangersEnvironment(options.binaries),
    stdin: "ignore",
  });
  const modules = join(folder, "node_modules");
  const lock: unknown = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8"));
  const entries = Object.entries(
    isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {},
  );
  const packages = entries.map(([path, entry]) => ({
    path,
    version: isRecord(entry) ? String(entry["version"]) : "",
  }));
  return { packages, megabytes: Math.round((await bytesIn(modules)) / 1e6) };
};

const bytesIn = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ name, parentPath }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};
