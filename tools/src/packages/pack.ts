import { execa } from "execa";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { checkout } from "../processes.ts";
import { strangersEnvironment } from "./environment.ts";
import { readManifest } from "./manifests.ts";

/**
 * Builds packages of this checkout and packs them as they would be published.
 *
 * @param folders of the packages: `packages/durable-payments`
 * @param target folder that the tarballs are written to
 * @returns the path of each tarball, by the name of its package
 */
export const packPackages = async (
  folders: ReadonlyArray<string>,
  target: string,
): Promise<Readonly<Record<string, string>>> => {
  const packages = folders.map(readManifest);
  const names = packages.map(({ name }) => name);
  const inCheckout = { cwd: checkout, stdin: "ignore" } as const;
  await execa("nx", ["run-many", "-t", "build", "-p", names.join(",")], {
    ...inCheckout,
    preferLocal: true,
    localDir: checkout,
  });
  await execa("npm", ["pack", "--pack-destination", target, ...names.map((name) => `-w=${name}`)], {
    ...inCheckout,
    env: strangersEnvironment(),
  });
  return Object.fromEntries(
    packages.map(({ name, version }) => [name, join(target, `${name}-${version}.tgz`)]),
  );
};

/** Makes a project that `create-durable-payments` has made take the package from a tarball instead of a registry. */
export const installTarball = async (project: string, tarball: string): Promise<void> => {
  const file = join(project, "package.json");
  const text = await readFile(file, "utf8");
  const named = /(?<="durable-payments": ")[^"]+/;
  if (!named.test(text)) throw new Error(`${basename(project)} does not depend on the package.`);
  await writeFile(file, text.replace(named, `file:${relative(project, tarball)}`));
};
