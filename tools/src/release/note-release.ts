/**
 * Records the histories that every later release must replay. `nx release` calls it before it changes versions, and commits
 * what is staged here.
 */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { checkout } from "../processes.ts";

const RELEASED_HISTORIES = "packages/workflows/test/released-histories.json";

const noteHistories = (): string => {
  const file = join(checkout, RELEASED_HISTORIES);
  const released = JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  const histories = globSync("packages/workflows/test/histories/**/*.json", { cwd: checkout });
  for (const history of histories)
    released[hash("sha256", readFileSync(join(checkout, history)))] ??= basename(history);
  writeFileSync(file, `${JSON.stringify(released, Object.keys(released).toSorted(), 2)}\n`);
  return RELEASED_HISTORIES;
};

// Nx calls it for a dry run, too.
if (process.env["NX_DRY_RUN"] !== "true") {
  execFileSync("git", ["add", noteHistories()], { cwd: checkout, stdio: "inherit" });
}
