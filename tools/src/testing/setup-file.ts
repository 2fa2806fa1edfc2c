// Run by Vitest before each test file. What the processes of a test remember of their sends is
// forgotten with the test, and never written into the home folder of whoever runs it. What the
// Temporal servers of the file print is shown when one of its tests fails, and forgotten otherwise.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { serverLogVariable } from "./server-log-variable.ts";

const shownLines = 100;

interface Task {
  readonly result?: { readonly state?: string } | undefined;
  readonly tasks?: ReadonlyArray<Task>;
}

const hasFailed = ({ result, tasks = [] }: Task): boolean =>
  result?.state === "fail" || tasks.some(hasFailed);

const folder = mkdtempSync(join(tmpdir(), "durable-payments-state-"));
const serverLog = join(folder, "servers.log");
process.env["XDG_STATE_HOME"] = folder;
process.env[serverLogVariable] = serverLog;
// The Temporal servers collect garbage less often, for a fifth less CPU.
process.env["GOGC"] ??= "400";

// Vitest reads the names of fixtures from the first parameter.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  if (existsSync(serverLog) && hasFailed(file)) {
    const lines = readFileSync(serverLog, "utf8").trimEnd().split("\n");
    console.error(`The Temporal servers of this file:\n${lines.slice(-shownLines).join("\n")}`);
  }
  rmSync(folder, { recursive: true, force: true });
});
