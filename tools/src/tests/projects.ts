import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkout } from "../processes/apps.ts";

/** A project of the workspace that has tests. */
export interface TestedProject {
  readonly name: string;
  /** Its folder, seen from the checkout. */
  readonly folder: string;
}

interface PackageJson {
  readonly name: string;
  readonly workspaces?: readonly string[];
  readonly nx?: { readonly targets?: Readonly<Record<string, unknown>> };
}

/** The projects with a `test` target. */
export const testedProjects = async (root: string = checkout): Promise<TestedProject[]> => {
  const { workspaces = [] } = await packageJson(root);
  const folders = await Promise.all(workspaces.map((pattern) => expand(root, pattern)));
  const projects = await Promise.all(
    folders.flat().map(async (folder) => ({ folder, json: await packageJson(join(root, folder)) })),
  );
  return projects
    .filter(({ json }) => json.nx?.targets?.["test"] !== undefined)
    .map(({ folder, json }) => ({ name: json.name, folder }));
};

/** Where the `test` target of a project writes vitest's report. */
export const resultsFolder = (project: TestedProject, root: string = checkout): string =>
  join(root, project.folder, ".test-results");

const expand = async (root: string, pattern: string): Promise<string[]> => {
  if (!pattern.endsWith("/*")) return [pattern];
  const parent = pattern.slice(0, -2);
  const entries = await readdir(join(root, parent), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${parent}/${entry.name}`)
    .toSorted();
};

const packageJson = async (folder: string): Promise<PackageJson> =>
  // The workspace's own file; npm has read it already.
  JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as PackageJson;
