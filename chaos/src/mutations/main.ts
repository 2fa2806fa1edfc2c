import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { checkout } from "@durable-payments/tools/processes";
import { BadOption, runCommand } from "@durable-payments/tools/command";
import { type PlantedFault, plantedFaults } from "./mutations.ts";

const help = `Usage: node --conditions=@durable-payments/source chaos/src/mutations/main.ts [OPTIONS]

Takes one guard after the other out of a copy of this checkout, and shows that the chaos run, or a
test, turns red without it. The copy is of what is committed.

Options:
  --only NAMES   of these guards, separated by commas
  --runs N       runs of each chaos run (60)
  --tests        by the tests alone, which takes minutes; without it by the chaos run as well
  --help         shows this text, and the names: ${plantedFaults.map(({ name }) => name).join(", ")}

Exit codes: 0 every one turned red; 1 otherwise; 2 bad options.
`;

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: checkout, encoding: "utf8" });

/** Puts a fault into a copy of the checkout. */
const plant = (copy: string, { edits, name }: PlantedFault): void => {
  for (const { file, find, put } of edits) {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    const parts = text.split(find);
    if (parts.length !== 2) {
      throw new Error(`${name}: ${file} has its guard ${parts.length - 1} times, not once`);
    }
    // The file may be linked to the one in the checkout.
    rmSync(path);
    writeFileSync(path, parts.join(put));
  }
};

const chaosIn = (copy: string, fault: PlantedFault, runs: string): string | undefined => {
  const { chaos } = fault;
  if (chaos === undefined) return undefined;
  const started = spawnSync(
    process.execPath,
    [
      "--conditions=@durable-payments/source",
      join(copy, "chaos/src/main.ts"),
      "--quiet",
      "--json",
      "--minutes=8",
      `--runs=${runs}`,
      ...chaos,
    ],
    { cwd: copy, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  if (started.status === 0) return "green";
  const [line = ""] = started.stdout.split("\n");
  if (line === "") return `failed: ${started.stderr.slice(-500)}`;
  const result = JSON.parse(line) as Record<
    string,
    readonly { subject: string; what: string }[]
  > & {
    folder?: string;
  };
  if (result.folder !== undefined) rmSync(result.folder, { recursive: true, force: true });
  const found = ["duplicates", "lost", "wrong", "stuck"].flatMap((name) =>
    (result[name] ?? []).map(({ subject, what }) => `${name}: ${subject} ${what}`),
  );
  return `RED, ${found.length} findings: ${found.slice(0, 3).join("; ")}`;
};

const testsIn = (copy: string, { tests }: PlantedFault): string | undefined => {
  if (tests === undefined) return undefined;
  const { status, stderr, stdout } = spawnSync("npx", ["vitest", "run", ...tests], {
    cwd: copy,
    encoding: "utf8",
  });
  if (status === 0) return "green";
  const failed = stripVTControlCharacters(`${stdout}\n${stderr}`)
    .split("\n")
    .filter((line) => / FAIL /.test(line));
  // A test file that cannot run at all, or is not there, shows nothing.
  return failed.length === 0 ? "failed to run" : `RED, ${failed.length}: ${failed[0]?.trim()}`;
};

const options = {
  only: { type: "string" },
  runs: { type: "string" },
  tests: { type: "boolean" },
} as const;

await runCommand({ help, options }, async ({ only, runs = "60", tests = false }) => {
  const names = only?.split(",");
  const unknown = names?.find((name) => !plantedFaults.some((fault) => fault.name === name));
  if (unknown !== undefined) throw new BadOption(`There is no planted fault ${unknown}.`);
  let isAllRed = true;
  for (const fault of plantedFaults) {
    if (names !== undefined && !names.includes(fault.name)) continue;
    const copy = mkdtempSync(join(tmpdir(), "durable-payments-planted-"));
    git("worktree", "add", "--quiet", "--detach", "--force", copy, "HEAD");
    try {
      // Links: what is installed is not changed.
      execFileSync("cp", ["-al", join(checkout, "node_modules"), copy]);
      plant(copy, fault);
      const results = [testsIn(copy, fault), tests ? undefined : chaosIn(copy, fault, runs)].filter(
        (result) => result !== undefined,
      );
      isAllRed &&= results.every((result) => result.startsWith("RED"));
      process.stdout.write(`${fault.name} (${fault.what})\n  ${results.join("\n  ")}\n`);
    } finally {
      git("worktree", "remove", "--force", copy);
    }
  }
  return isAllRed ? 0 : 1;
});
