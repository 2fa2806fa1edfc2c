// Run by Vitest before each test file: gives it a folder for its state.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as vmShared from "@temporalio/worker/lib/workflow/vm-shared.js";
import { afterAll } from "vitest";
import { SERVER_LOG } from "./run.ts";

const SHOWN_LINES = 100;

interface Task {
  readonly result?: { readonly state?: string } | undefined;
  readonly tasks?: ReadonlyArray<Task>;
}

const hasFailed = ({ result, tasks = [] }: Task): boolean =>
  result?.state === "fail" || tasks.some(hasFailed);

// Processes of a test write nothing into the home folder of its user.
const folder = mkdtempSync(join(tmpdir(), "durable-payments-state-"));
const serverLog = join(folder, "servers.log");
process.env["XDG_STATE_HOME"] = folder;
process.env[SERVER_LOG] = serverLog;
// The Temporal servers collect garbage less often, for a fifth less CPU.
process.env["GOGC"] ??= "400";

const { cache } = createRequire(import.meta.url);
const VM_SHARED = join("@temporalio", "worker", "lib", "workflow", "vm-shared.js");

/**
 * After a replay the SDK looks at each promise of the process, forever, to show the stacks of workflows. The files that
 * follow in the process would pay for it: those that execute workflow code themselves ten times their time.
 */
const uninstallReplayHooks = (): void => {
  const loaded = Object.values(cache).find((module) => module?.filename.endsWith(VM_SHARED));
  if (loaded !== undefined) (loaded.exports as typeof vmShared).globalHandlers.uninstall();
};

// Vitest reads the names of fixtures from the first parameter.
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, file) => {
  uninstallReplayHooks();
  if (existsSync(serverLog) && hasFailed(file)) {
    const lines = readFileSync(serverLog, "utf8").trimEnd().split("\n");
    console.error(`The Temporal servers of this file:\n${lines.slice(-SHOWN_LINES).join("\n")}`);
  }
  rmSync(folder, { recursive: true, force: true });
});
