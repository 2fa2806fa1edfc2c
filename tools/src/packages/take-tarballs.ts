import { isRecord } from "@durable-payments/api-core/values";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Tarballs } from "./pack.ts";

const groupOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isRecord(value) ? value : {};

/**
 * Makes a project take packages from their tarballs instead of a registry. Packages that its manifest does not name
 * become its dependencies, too: npm then takes each for the dependencies of the others.
 */
export const takeTarballs = async (folder: string, tarballs: Tarballs): Promise<void> => {
  const file = join(folder, "package.json");
  const manifest = groupOf(JSON.parse(await readFile(file, "utf8")));
  const packed = new Map(
    [...tarballs].map(([name, path]) => [name, `file:${relative(folder, path)}`]),
  );
  const named = groupOf(manifest["devDependencies"]);
  const devDependencies = Object.fromEntries(
    Object.entries(named).map(([name, range]) => [name, packed.get(name) ?? range]),
  );
  const others = [...packed].filter(([name]) => !(name in named));
  const dependencies = {
    ...groupOf(manifest["dependencies"]),
    ...Object.fromEntries(others),
  };
  const taken = { ...manifest, dependencies, devDependencies };
  await writeFile(file, `${JSON.stringify(taken, undefined, 2)}\n`);
};
