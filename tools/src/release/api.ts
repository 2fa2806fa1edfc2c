/**
 * Keep the API reports: `packages/NAME/api/current.md` is what its users see of a package, beside `released.md`, what
 * they saw of its latest release. Reads the declarations that `npm run build` writes.
 *
 * Usage: node tools/src/release/api.ts [--check]; `--check` only compares, and refuses a change that no version plan tells.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { checkout } from "../processes/apps.ts";
import { publicPackages } from "../packages/public-packages.ts";
import { apiReports } from "./api-report.ts";
import { readVersionPlan, untoldChange } from "./surface-changes.ts";

const textIn = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, "utf8") : undefined;

const { values } = parseArgs({ options: { check: { type: "boolean" } } });
const packages = publicPackages().filter(({ entries }) => entries.length > 0);
const reports = apiReports(packages);
const plans = globSync(".nx/version-plans/*.md", { cwd: checkout }).flatMap(
  (file) => readVersionPlan(readFileSync(join(checkout, file), "utf8")) ?? [],
);
const problems = packages.flatMap(({ name, folder }) => {
  const current = reports.get(name) ?? "";
  const file = join(folder, "api", "current.md");
  if (!values.check) {
    mkdirSync(join(folder, "api"), { recursive: true });
    writeFileSync(file, current);
    return [];
  }
  const untold = untoldChange(
    { released: textIn(join(folder, "api", "released.md")), current },
    plans,
  );
  return [
    ...(textIn(file) === current
      ? []
      : [`${relative(checkout, file)} is out of date: run "npm run api".`]),
    ...(untold === undefined ? [] : [`${name} ${untold}`]),
  ];
});
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
