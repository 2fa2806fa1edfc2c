#!/usr/bin/env node
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const help = `Usage: npm create durable-payments [FOLDER]

Creates a project in FOLDER (default my-payments): a workflow that pays an invoice exactly once, its worker, its
tests, and a compose.yaml with a Temporal server and the simulated service. It installs nothing.

Options:
  --help   shows this text

Exit codes: 0 created, 1 could not be written, 2 invalid input.
`;

const template = fileURLToPath(new URL("../template/", import.meta.url));

/** Files that npm would omit from a package or read as its own, by their names in the template. */
const RENAMED = { env: ".env", gitignore: ".gitignore" } as const;

const end = (code: number, message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(code);
};

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const readArguments = () => {
  try {
    const options = { help: { type: "boolean", short: "h" } } as const;
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return end(2, `${messageOf(error)}\nSee --help.`);
  }
};

/** A valid name of an npm package. */
const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "") || "payments";

/** Copies the template into a folder, which is created if it does not exist. */
const createProject = (project: string): void => {
  cpSync(template, project, { recursive: true });
  for (const [from, to] of Object.entries(RENAMED))
    renameSync(join(project, from), join(project, to));
  const own = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  // All packages have one version, since they are released together.
  const { version } = JSON.parse(own) as { readonly version: string };
  const manifest = join(project, "package.json");
  const text = readFileSync(manifest, "utf8")
    .replace('"name": "payments"', `"name": "${packageName(project)}"`)
    .replace('"durable-payments": "*"', `"durable-payments": "${version}"`);
  writeFileSync(manifest, text);
};

const { positionals, values } = readArguments();
if (values.help) {
  process.stdout.write(help);
} else {
  const [folder = "my-payments", ...others] = positionals;
  if (others.length > 0) end(2, `Name one folder, not ${positionals.length}.\nSee --help.`);
  const project = resolve(folder);
  try {
    if (existsSync(project) && readdirSync(project).length > 0)
      end(2, `${project} is not empty. Name an empty folder, or one to create.`);
    createProject(project);
  } catch (error) {
    end(1, `The project could not be written: ${messageOf(error)}`);
  }
  process.stdout.write(
    `Created ${project}.\n\nNext:\n  cd ${relative(process.cwd(), project) || "."}\n  npm install\n  npm test\n\nIts README.md explains how to run it.\n`,
  );
}
