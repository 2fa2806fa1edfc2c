#!/usr/bin/env node
import { relative } from "node:path";
import { parseArgs } from "node:util";
import { CannotCreate, createProject } from "./create-project.ts";

const help = `Usage: npm create durable-payments [FOLDER] [-- --json]

Creates a project in FOLDER (default my-payments): a workflow that pays an invoice exactly once, its worker, its
tests, and a compose.yaml with a Temporal server and the simulated service. It installs nothing.

Options:
  --json   prints {"folder":"…"} on standard output
  --help   shows this text

Exit codes: 0 created, 1 could not be written, 2 invalid input.
`;

const end = (code: number, message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(code);
};

const readArguments = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    return end(2, `${error instanceof Error ? error.message : String(error)}\nSee --help.`);
  }
};

const { positionals, values } = readArguments();
if (values.help) {
  process.stdout.write(help);
} else {
  const [folder = "my-payments", ...others] = positionals;
  if (others.length > 0) end(2, `Name one folder, not ${positionals.length}.\nSee --help.`);
  try {
    const project = createProject(folder);
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ folder: project })}\n`
        : `Created ${project}.\n\nNext:\n  cd ${relative(process.cwd(), project) || "."}\n  npm install\n  npm test\n\nIts README.md explains how to run it.\n`,
    );
  } catch (error) {
    if (error instanceof CannotCreate) end(2, error.message);
    end(
      1,
      `The project could not be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
