import { execa } from "execa";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
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
    packages.map(({ name, version }) => {
      // As npm writes the name of a scope.
      const file = name.replace(/^@(.+)\//, "$1-");
      return [name, join(target, `${file}-${version}.tgz`)];
    }),
  );
};

/**
 * Makes a project that `create-durable-payments` has made take packages from tarballs instead of a registry.
 *
 * @param tarballs the path of each, by the name of its package
 */
export const useTarballs = async (
  project: string,
  tarballs: Readonly<Record<string, string>>,
): Promise<void> => {
  const file = join(project, "package.json");
  // The template of this repository.
  const manifest = JSON.parse(await readFile(file, "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const packed = Object.entries(tarballs).map(
    ([name, tarball]) => [name, `file:${relative(project, tarball)}`] as const,
  );
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(packed) };
  await writeFile(file, `${JSON.stringify({ ...manifest, dependencies }, undefined, 2)}\n`);
};
