import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { runCommand } from "./command.ts";
import { checkout } from "./processes.ts";

const help = `Usage: npm run size [-- --check]

Prints the lines of source and of tests of each module beside the budget that it is designed by, and the words of
the documentation. Lines are those of TypeScript and JavaScript files, blank ones and comments included; scripts,
templates and recorded data are left out.

Options:
  --check  ends with exit code 1 where a module is over its budget
  --help   shows this text

Exit codes: 0, or 1 with --check where something is over its budget.
`;

interface Module {
  readonly name: string;
  /** Folders whose files it has. */
  readonly folders: ReadonlyArray<string>;
  /** Lines of source at most. */
  readonly budget: number;
}

const packages = (...names: ReadonlyArray<string>) => names.map((name) => `packages/${name}/`);

const MODULES: ReadonlyArray<Module> = [
  { name: "api-core", folders: packages("api-core"), budget: 5_000 },
  { name: "ledger", folders: packages("ledger"), budget: 1_800 },
  { name: "protocol", folders: packages("protocol"), budget: 1_500 },
  { name: "activities", folders: packages("activities"), budget: 5_000 },
  { name: "workflows", folders: packages("workflows"), budget: 2_000 },
  { name: "operations", folders: packages("operations"), budget: 5_500 },
  {
    name: "plugin, codec, replay, testing, create",
    folders: packages("plugin", "codec", "replay", "testing", "create"),
    budget: 4_500,
  },
  { name: "apps", folders: ["apps/"], budget: 3_500 },
  { name: "simulator", folders: packages("simulator"), budget: 2_000 },
  {
    name: "tools, bench, chaos, outside, site",
    folders: ["tools/", "bench/", "chaos/", "outside/", "site/"],
    budget: 7_500,
  },
];

const CODE = /\.(?:[cm]?ts|[cm]?js)$/;
const isTest = (file: string): boolean => file.includes("/test/");
const isSource = (file: string): boolean =>
  !isTest(file) && !/\/(?:template|dist|api|scripts)\//.test(file);

const read = (file: string): string => readFileSync(join(checkout, file), "utf8");
const linesOf = (files: ReadonlyArray<string>): number =>
  files.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0);
const wordsOf = (files: ReadonlyArray<string>): number =>
  files.reduce((sum, file) => sum + (read(file).match(/\S+/g)?.length ?? 0), 0);

const row = (...[name = "", ...numbers]: ReadonlyArray<string>): string =>
  `${name.padEnd(40)}${numbers.map((text) => text.padStart(10)).join("")}\n`;

await runCommand({ help, options: { check: { type: "boolean" } } }, async ({ check = false }) => {
  const { stdout } = await execa(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"],
    { cwd: checkout },
  );
  const { stdout: gone } = await execa("git", ["ls-files", "--deleted"], { cwd: checkout });
  const deleted = new Set(gone.split("\n"));
  const files = stdout.split("\n").filter((file) => !deleted.has(file));
  const code = files.filter((file) => CODE.test(file));
  const sizes = MODULES.map(({ budget, folders, name }) => {
    const own = code.filter((file) => folders.some((folder) => file.startsWith(folder)));
    return {
      name,
      budget,
      source: linesOf(own.filter(isSource)),
      tests: linesOf(own.filter(isTest)),
    };
  });
  const over = sizes.filter(({ budget, source }) => source > budget);
  const sum = (of: "source" | "budget" | "tests"): string =>
    `${sizes.reduce((all, size) => all + size[of], 0)}`;
  const documents = files.filter((file) => file.endsWith(".md") && !file.includes("CHANGELOG"));
  process.stdout.write(row("module", "source", "budget", "tests"));
  for (const { budget, name, source, tests } of sizes) {
    process.stdout.write(row(name, `${source}`, `${budget}`, `${tests}`));
  }
  process.stdout.write(row("all", sum("source"), sum("budget"), sum("tests")));
  process.stdout.write(
    `\nWords of documentation: ${wordsOf(documents)} in ${documents.length} files\n`,
  );
  for (const { budget, name, source } of over) {
    process.stdout.write(`Over its budget: ${name}, by ${source - budget} lines\n`);
  }
  return check && over.length > 0 ? 1 : 0;
});
