import { execa } from "execa";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder, fillAtomically } from "../servers/server-cache.ts";
import { installPackages } from "./install.ts";

/** A Node to run something with. */
export interface NodeBinary {
  /** `22.19.0` */
  readonly version: string;
  /** The folder in which `node` is. */
  readonly folder: string;
}

const versionOf = async (folder: string): Promise<string> => {
  const { stdout } = await execa(join(folder, "node"), ["--version"]);
  return stdout.slice(1);
};

/**
 * Find a Node of a version: the one that runs this, else the one of the npm package of this platform,
 * which is installed into the per-user cache once.
 *
 * @param version `24`, or `22.19` for the newest patch of that.
 */
export const findNode = async (version: string): Promise<NodeBinary> => {
  if (`${process.versions.node}.`.startsWith(`${version}.`)) {
    return { version: process.versions.node, folder: dirname(process.execPath) };
  }
  const platform = process.platform === "win32" ? "win" : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const cached = join(cacheFolder(), `node-${version}`);
  const folder = join(cached, "node_modules", name, "bin");
  if (!existsSync(folder)) {
    await mkdir(dirname(cached), { recursive: true });
    await fillAtomically(cached, async (target) => {
      await installPackages(target, { [name]: `~${version}` });
    });
  }
  return { version: await versionOf(folder), folder };
};
