import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A project cannot be created there; the message has the reason and the remedy. */
export class CannotCreate extends Error {
  override readonly name = "CannotCreate";
}

const template = fileURLToPath(new URL("../template/", import.meta.url));

/** Files that npm would omit from a package or read as its own, by their names in the template. */
const RENAMED = { env: ".env", gitignore: ".gitignore" } as const;

/** The version of all packages, which are released together. */
const ownVersion = (): string => {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(manifest) as { readonly version: string };
  return version;
};

/** A valid name of an npm package. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "") || "payments";

/**
 * Creates a project in a folder, which is created if it does not exist.
 *
 * @param folder path of the folder, from the current one
 * @returns its absolute path
 * @throws CannotCreate if the folder has files in it
 */
export const createProject = (folder: string): string => {
  const project = resolve(folder);
  if (existsSync(project) && readdirSync(project).length > 0) {
    throw new CannotCreate(`${project} is not empty. Name an empty folder, or one to create.`);
  }
  cpSync(template, project, { recursive: true });
  for (const [from, to] of Object.entries(RENAMED))
    renameSync(join(project, from), join(project, to));
  const manifest = join(project, "package.json");
  const text = readFileSync(manifest, "utf8");
  writeFileSync(
    manifest,
    text
      .replace('"name": "payments"', `"name": "${packageName(project)}"`)
      .replace('"durable-payments": "*"', `"durable-payments": "${ownVersion()}"`),
  );
  return project;
};
