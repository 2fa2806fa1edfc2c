/**
 * Keeps the API report: `packages/durable-payments/api/current.md` shows what users see of the package, and `released.md`
 * shows the same for its latest release. Reads the declarations that `npm run build` writes.
 *
 * Usage: node tools/src/release/api.ts [--check]; `--check` only compares, and refuses a change without a version plan.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { PUBLISHED, readManifest } from "../packages/manifests.ts";
import { checkout } from "../processes.ts";
import { apiReport, readDeclarations } from "./api-report.ts";

/** A version plan of Nx: a Markdown file with the bump, and the words of the changelog. */
export interface VersionPlan {
  readonly bump: "patch" | "minor" | "major";
  /** Whether a line that starts with `Compatible:` says why changed declarations break nobody. */
  readonly isCompatible: boolean;
}

/** Returns undefined for a text without a bump, which Nx refuses as well. */
export const readVersionPlan = (text: string): VersionPlan | undefined => {
  const [, header = "", words = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const bump = /^[^#\n]+:\s*['"]?(patch|minor|major)['"]?\s*$/m.exec(header)?.[1];
  return bump === undefined
    ? undefined
    : { bump: bump as VersionPlan["bump"], isCompatible: /^Compatible: \S/m.test(words) };
};

const linesWithout = (text: string, other: string): ReadonlyArray<string> => {
  const kept = new Set(other.split("\n"));
  return text.split("\n").filter((line) => !kept.has(line));
};

/**
 * Compares the API report with that of the latest release.
 *
 * @param released the latter, empty before the first release
 * @returns the version plan that is missing, as a sentence; undefined if the plans announce the change
 */
export const unannouncedChange = (
  { current, released }: { readonly released: string; readonly current: string },
  plans: ReadonlyArray<VersionPlan>,
): string | undefined => {
  if (released === current) return undefined;
  const removed = linesWithout(released, current);
  const isBreaking = removed.length > 0 && !plans.some(({ isCompatible }) => isCompatible);
  const isAnnounced = plans.some(
    ({ bump }) => bump === "major" || (bump === "minor" && !isBreaking),
  );
  if (isAnnounced) return undefined;
  return isBreaking
    ? `The API breaks its users: a version plan of a major release is missing, or in a minor one a line "Compatible: why". Write one: npm run plan -- major --message "…"\n${removed.map((line) => `  - ${line}\n`).join("")}`
    : `The API has grown: a version plan of a minor release is missing. Write one: npm run plan -- minor --message "…"`;
};

if (import.meta.main) {
  const textIn = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
  const { values } = parseArgs({ options: { check: { type: "boolean" } } });
  const file = join(checkout, PUBLISHED, "api/current.md");
  const { entries, name } = readManifest(PUBLISHED);
  const built = entries.map((entry) => ({
    name: entry.name,
    declarations: join(checkout, entry.declarations),
  }));
  const program = readDeclarations(built.map(({ declarations }) => declarations));
  const current = apiReport(program, { name, folder: join(checkout, PUBLISHED), entries: built });
  if (values.check) {
    const plans = globSync(".nx/version-plans/*.md", { cwd: checkout }).flatMap(
      (plan) => readVersionPlan(textIn(join(checkout, plan))) ?? [],
    );
    const released = textIn(file.replace("current", "released"));
    const problems = [
      textIn(file) === current ? [] : `${file} is out of date: run "npm run api".`,
      unannouncedChange({ released, current }, plans) ?? [],
    ].flat();
    for (const problem of problems) process.stderr.write(`${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, current);
  }
}
