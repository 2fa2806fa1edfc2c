/*
 * Prints the lines of code of each module, of source and of tests, with its budget, and the words of the documentation.
 * Counts TypeScript and JavaScript files: neither blank lines nor comments, nor templates and recorded data.
 *
 * Usage: npm run size
 */
import { execa } from "execa";
import { existsSync, readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { checkout } from "./processes.ts";

/** Lines of code that the source of a module is designed for. One may exceed its own if all together do not. */
const BUDGETS: Readonly<Record<string, number>> = {
  "packages/api-core": 4_200,
  "packages/ledger": 3_400,
  "packages/protocol": 1_100,
  "packages/activities": 4_200,
  "packages/workflows": 1_000,
  "packages/control": 4_700,
  "packages/{durable-payments,plugin,codec,replay,testing,create}": 3_900,
  apps: 2_700,
  "packages/simulator": 1_700,
  "{tools,bench,chaos,site}": 5_600,
};

/** Lines of code that the source has at most in all. */
const BUDGET = 34_500;

/** A line that is neither blank nor part of a comment. Each line of a block comment begins with an asterisk. */
const LINE_OF_CODE = /^[ \t]*(?!\/\/|\/?\*)[^\s].*$/gm;

const CODE = /\.[cm]?[tj]s$/;
const TEST = /\/test\//;
const LEFT_OUT = /\/(?:template|dist|api|scripts)\//;

const row = (name: string, ...cells: ReadonlyArray<string | number>): string =>
  `${name.padEnd(64)}${cells.map((cell) => String(cell).padStart(8)).join("")}\n`;

const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"];
const { stdout } = await execa("git", args, { cwd: checkout });
const files = stdout.split("\n").filter((file) => existsSync(join(checkout, file)));
const count = (chosen: ReadonlyArray<string>, of: RegExp) =>
  chosen.reduce(
    (sum, file) => sum + (readFileSync(join(checkout, file), "utf8").match(of)?.length ?? 0),
    0,
  );
const linesOf = (chosen: ReadonlyArray<string>) => count(chosen, LINE_OF_CODE);
const lines = [row("module", "source", "budget", "tests")];
const sums: [number, number, number] = [0, 0, 0];
const over: Array<string> = [];
for (const [name, budget] of Object.entries(BUDGETS)) {
  // A glob leaves out folders such as `.vitepress`.
  const isIn = (file: string) => matchesGlob(file.replaceAll("/.", "/"), `${name}/**`);
  const code = files.filter((file) => isIn(file) && CODE.test(file));
  const source = linesOf(code.filter((file) => !TEST.test(file) && !LEFT_OUT.test(file)));
  const tests = linesOf(code.filter((file) => TEST.test(file)));
  lines.push(row(name, source, budget, tests));
  [source, budget, tests].forEach((number, column) => (sums[column as 0] += number));
  if (source > budget) over.push(`Over its budget: ${name}, by ${source - budget} lines\n`);
}
const [all, , tests] = sums;
lines.push(row("all", all, BUDGET, tests));
const documents = files.filter((file) => file.endsWith(".md") && !/CHANGELOG|\/api\//.test(file));
const words = count(documents, /\S+/g);
lines.push(`\nWords of documentation: ${words} in ${documents.length} files\n`, ...over);
process.stdout.write(lines.join(""));
