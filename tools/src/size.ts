import { execa } from "execa";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** The folders of each module, and the lines of source that it has at most. */
const MODULES: ReadonlyArray<readonly [name: string, folders: RegExp, budget: number]> = [
  ["api-core", /^packages\/api-core\//, 5_000],
  ["ledger", /^packages\/ledger\//, 1_800],
  ["protocol", /^packages\/protocol\//, 1_500],
  ["activities", /^packages\/activities\//, 5_000],
  ["workflows", /^packages\/workflows\//, 2_000],
  ["operations", /^packages\/operations\//, 5_500],
  [
    "durable-payments, plugin, codec, replay, testing, create",
    /^packages\/(?:durable-payments|plugin|codec|replay|testing|create)\//,
    4_500,
  ],
  ["apps", /^apps\//, 3_500],
  ["simulator", /^packages\/simulator\//, 2_000],
  ["tools, bench, chaos, site", /^(?:tools|bench|chaos|site)\//, 7_500],
];

const CODE = /\.[cm]?[tj]s$/;
const TEST = /\/test\//;
const LEFT_OUT = /\/(?:template|dist|api|scripts)\//;

const row = (...[name = "", ...numbers]: ReadonlyArray<string | number>): string =>
  `${String(name).padEnd(58)}${numbers.map((text) => String(text).padStart(9)).join("")}\n`;

await runCommand({ help, options: { check: { type: "boolean" } } }, async ({ check = false }) => {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await execa("git", args, { cwd: checkout });
  const files = stdout.split("\n").filter((file) => existsSync(join(checkout, file)));
  const count = (chosen: ReadonlyArray<string>, of: RegExp) =>
    chosen.reduce(
      (sum, file) => sum + (readFileSync(join(checkout, file), "utf8").match(of)?.length ?? 0),
      0,
    );
  const print = (text: string) => void process.stdout.write(text);
  print(row("module", "source", "budget", "tests"));
  const sums = [0, 0, 0] as [number, number, number];
  const over: Array<string> = [];
  for (const [name, folders, budget] of MODULES) {
    const code = files.filter((file) => folders.test(file) && CODE.test(file));
    const isSource = (file: string) => !TEST.test(file) && !LEFT_OUT.test(file);
    const lines = [
      count(code.filter(isSource), /\n/g),
      budget,
      count(
        code.filter((file) => TEST.test(file)),
        /\n/g,
      ),
    ] as const;
    print(row(name, ...lines));
    lines.forEach((number, column) => (sums[column as 0] += number));
    if (lines[0] > budget) over.push(`Over its budget: ${name}, by ${lines[0] - budget} lines\n`);
  }
  print(row("all", ...sums));
  const documents = files.filter((file) => file.endsWith(".md") && !file.includes("CHANGELOG"));
  print(
    `\nWords of documentation: ${count(documents, /\S+/g)} in ${documents.length} files\n${over.join("")}`,
  );
  return check && over.length > 0 ? 1 : 0;
});
