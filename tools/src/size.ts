import { execa } from "execa";
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { runCommand } from "./command.ts";
import { checkout } from "./processes.ts";

const help = `Usage: npm run size [-- --check]

Prints the lines of source and tests of each module with its budget, and the words of the documentation. Counts the lines
of TypeScript and JavaScript files, including blank lines and comments, without scripts, templates and recorded data.

Options:
  --check  ends with exit code 1 if a module is over its budget
  --help   shows this text

Exit codes: 0, or 1 with --check if something is over its budget.
`;

/** The lines of source that the folders of a module have at most. */
const BUDGETS: Readonly<Record<string, number>> = {
  "packages/api-core": 5_000,
  "packages/ledger": 1_800,
  "packages/protocol": 1_500,
  "packages/activities": 5_000,
  "packages/workflows": 2_000,
  "packages/operations": 5_500,
  "packages/{durable-payments,plugin,codec,replay,testing,create}": 4_500,
  apps: 3_500,
  "packages/simulator": 2_000,
  "{tools,bench,chaos,site}": 7_500,
};

const CODE = /\.[cm]?[tj]s$/;
const TEST = /\/test\//;
const LEFT_OUT = /\/(?:template|dist|api|scripts)\//;

const row = (name: string, ...cells: ReadonlyArray<string | number>): string =>
  `${name.padEnd(64)}${cells.map((cell) => String(cell).padStart(8)).join("")}\n`;

await runCommand({ help, options: { check: { type: "boolean" } } }, async ({ check = false }) => {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await execa("git", args, { cwd: checkout });
  const files = stdout.split("\n").filter((file) => existsSync(join(checkout, file)));
  const count = (chosen: ReadonlyArray<string>, of = /\n/g) =>
    chosen.reduce(
      (sum, file) => sum + (readFileSync(join(checkout, file), "utf8").match(of)?.length ?? 0),
      0,
    );
  const print = (text: string) => void process.stdout.write(text);
  print(row("module", "source", "budget", "tests"));
  const sums: [number, number, number] = [0, 0, 0];
  const over: Array<string> = [];
  for (const [name, budget] of Object.entries(BUDGETS)) {
    // A glob leaves out folders such as `.vitepress`.
    const isIn = (file: string) => matchesGlob(file.replaceAll("/.", "/"), `${name}/**`);
    const code = files.filter((file) => isIn(file) && CODE.test(file));
    const source = count(code.filter((file) => !TEST.test(file) && !LEFT_OUT.test(file)));
    const tests = count(code.filter((file) => TEST.test(file)));
    print(row(name, source, budget, tests));
    [source, budget, tests].forEach((number, column) => (sums[column as 0] += number));
    if (source > budget) over.push(`Over its budget: ${name}, by ${source - budget} lines\n`);
  }
  print(row("all", ...sums));
  const documents = files.filter((file) => file.endsWith(".md") && !file.includes("CHANGELOG"));
  const words = count(documents, /\S+/g);
  print(`\nWords of documentation: ${words} in ${documents.length} files\n${over.join("")}`);
  return check && over.length > 0 ? 1 : 0;
});
