import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const project = fileURLToPath(new URL("../../../../packages/workflows/", import.meta.url));
const manifest = join(project, "package.json");

/** What the sources of the workflows import from elsewhere. */
const dependencies = async (): Promise<ReadonlyArray<string>> => {
  // The project's own manifest: it has both.
  const { dependencies, peerDependencies } = JSON.parse(await readFile(manifest, "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys({ ...dependencies, ...peerDependencies });
};

/** Folder of a package as the workflows find it. */
const folderOf = (name: string): string => {
  const found = findPackageJSON(name, manifest);
  if (found === undefined) throw new Error(`${name} is not installed`);
  return dirname(found);
};

/**
 * A copy of the workflows' sources with one text of one file replaced.
 *
 * @returns path of the module that exports the workflows
 */
export const changedWorkflows = async (
  file: string,
  before: string,
  after: string,
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "changed-workflows-"));
  afterAll(() => rm(folder, { recursive: true }));
  await cp(join(project, "src"), join(folder, "src"), { recursive: true });
  for (const name of await dependencies()) {
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(folderOf(name), link);
  }
  const changed = join(folder, "src", file);
  const text = await readFile(changed, "utf8");
  if (!text.includes(before)) throw new Error(`${file} has no text ${before}`);
  await writeFile(changed, text.replace(before, after));
  return join(folder, "src", "definitions", "index.ts");
};
