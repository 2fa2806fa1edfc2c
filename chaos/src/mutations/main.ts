import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { checkout } from "@durable-payments/tools/processes";
import { BadOption, runCommand } from "@durable-payments/tools/command";
import { fileWithGuard } from "./find-guard.ts";
import type { Mutation } from "./mutation.ts";
import { mutations } from "./mutations.ts";

const help = `Usage: node --conditions=@durable-payments/source chaos/src/mutations/main.ts [OPTIONS]

Takes one guard after the other out of a copy of this checkout, and shows that the chaos run, or a
test, turns red without it. The copy is of what is committed.

Options:
  --only NAMES   of these guards, separated by commas
  --runs N       runs of each chaos run (60)
  --tests        by the tests alone, which takes minutes; without it by the chaos run as well
  --help         shows this text, and the names: ${mutations.map(({ name }) => name).join(", ")}

Exit codes: 0 every one turned red; 1 otherwise; 2 bad options.
`;

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: checkout, encoding: "utf8" });

/** Take the guard out of a copy of the checkout. */
const mutate = (copy: string, { edits }: Mutation): void => {
  for (const edit of edits) {
    const { path, text } = fileWithGuard(copy, edit);
    // The file may be linked to the one in the checkout.
    rmSync(path);
    writeFileSync(path, text.split(edit.find).join(edit.put));
  }
};

const chaosIn = (copy: string, { chaos }: Mutation, runs: string): string | undefined => {
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

const testsIn = (copy: string, { tests }: Mutation): string | undefined => {
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
  const unknown = names?.find((name) => !mutations.some((one) => one.name === name));
  if (unknown !== undefined) throw new BadOption(`There is no guard ${unknown}.`);
  let isAllRed = true;
  for (const mutation of mutations) {
    if (names !== undefined && !names.includes(mutation.name)) continue;
    const copy = mkdtempSync(join(tmpdir(), "durable-payments-mutation-"));
    git("worktree", "add", "--quiet", "--detach", "--force", copy, "HEAD");
    try {
      // Links: what is installed is not changed.
      execFileSync("cp", ["-al", join(checkout, "node_modules"), copy]);
      mutate(copy, mutation);
      const results = [
        testsIn(copy, mutation),
        tests ? undefined : chaosIn(copy, mutation, runs),
      ].filter((result) => result !== undefined);
      isAllRed &&= results.every((result) => result.startsWith("RED"));
      process.stdout.write(`${mutation.name} (${mutation.what})\n  ${results.join("\n  ")}\n`);
    } finally {
      git("worktree", "remove", "--force", copy);
    }
  }
  return isAllRed ? 0 : 1;
});
