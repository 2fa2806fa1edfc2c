// Run by Vitest before each test file. What the processes of a test remember of their sends is
// forgotten with the test, and never written into the home folder of whoever runs it. What the
// Temporal servers of the file print is shown when one of its tests fails, and forgotten otherwise.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as vmShared from "@temporalio/worker/lib/workflow/vm-shared.js";
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

const { cache } = createRequire(import.meta.url);
const VM_SHARED = join("@temporalio", "worker", "lib", "workflow", "vm-shared.js");

/**
 * After a replay the SDK looks at each promise of the process, for ever, to show the stacks of workflows. The files that
 * follow in the process would pay for it: those that execute workflow code themselves ten times their time.
 */
const uninstallReplayHooks = (): void => {
  const loaded = Object.values(cache).find((module) => module?.filename.endsWith(VM_SHARED));
  // The module of this path; to import it would load the SDK into every test file.
  if (loaded !== undefined) (loaded.exports as typeof vmShared).globalHandlers.uninstall();
};

// Vitest reads the names of fixtures from the first parameter.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  uninstallReplayHooks();
  if (existsSync(serverLog) && hasFailed(file)) {
    const lines = readFileSync(serverLog, "utf8").trimEnd().split("\n");
    console.error(`The Temporal servers of this file:\n${lines.slice(-shownLines).join("\n")}`);
  }
  rmSync(folder, { recursive: true, force: true });
});
