// npm run check: every commit says what kind of change it is, as `nx release` reads it: `fix(worker): …`.
//
// Usage: node tools/check-commits.mjs [RANGE], by default every commit since that became the rule
import { spawnSync } from "node:child_process";

const lastWithout = "8e70ebe6a706e7993ab7817a76dddb89de86c1cf";
const types = "feat fix perf refactor docs test build ci chore style revert bench".split(" ");
const conventional = new RegExp(`^(${types.join("|")})(\\([a-z0-9, -]+\\))?!?: \\S`);

const subjects = (range) => {
  const args = ["log", "--no-merges", "--format=%h %s", range];
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter(Boolean) : undefined;
};

const [, , range = `${lastWithout}..HEAD`] = process.argv;
// A shallow clone does not have the older commit: all that it has are newer.
const wrong = (subjects(range) ?? subjects("HEAD") ?? []).filter(
  (line) => !conventional.test(line.slice(line.indexOf(" ") + 1)),
);
for (const line of wrong) console.error(`Not a conventional commit message: ${line}`);
if (wrong.length > 0) console.error(`It starts with ${types.join(", ")}; see CONTRIBUTING.md.`);
process.exitCode = wrong.length > 0 ? 1 : 0;
