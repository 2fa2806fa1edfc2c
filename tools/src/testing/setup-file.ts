// Run by Vitest before each test file: gives it a folder for its state, and counts what it starts.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import type { Worker } from "@temporalio/worker";
import type { WorkflowCodeBundler } from "@temporalio/worker/lib/workflow/bundler.js";
import type * as vmShared from "@temporalio/worker/lib/workflow/vm-shared.js";
import { afterAll } from "vitest";
import { cpuSeconds, SERVER_LOG, type Started, started } from "./started.ts";

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

type Method<Name extends string> = Record<Name, (...args: Array<never>) => Promise<unknown>>;

/** Counts the calls of a method that succeed, in place: a server is tried again on a busy machine. */
const count = <Name extends string>(holder: Method<Name>, name: Name, kind: keyof Started) => {
  const original = holder[name];
  holder[name] = async function counted(this: unknown, ...args) {
    const made = await original.apply(this, args);
    started()[kind] += 1;
    return made;
  };
};

/** The modules of the SDK that are counted once a test loads them. To import them here would load them into every file. */
const COUNTED: ReadonlyArray<readonly [RegExp, (module: never) => void]> = [
  [
    /@temporalio\/testing(?:\/lib\/index\.js)?$/,
    (module: { TestWorkflowEnvironment: typeof TestWorkflowEnvironment }) => {
      count(module.TestWorkflowEnvironment, "createLocal", "servers");
      count(module.TestWorkflowEnvironment, "createTimeSkipping", "servers");
    },
  ],
  [
    /@temporalio\/worker(?:\/lib\/index\.js)?$/,
    (module: { Worker: typeof Worker }) => count(module.Worker, "create", "workers"),
  ],
  [
    /\/workflow\/bundler$/,
    (module: { WorkflowCodeBundler: typeof WorkflowCodeBundler }) =>
      count(module.WorkflowCodeBundler.prototype, "createBundle", "bundles"),
  ],
];

/** Node's loader of CommonJS, which its ES modules use as well. */
interface Loader {
  _load: (this: unknown, request: string, ...rest: Array<unknown>) => unknown;
}

const countOnLoad = (loader: Loader): void => {
  const load = loader._load;
  const counted = new Set<unknown>();
  loader._load = function loadAndCount(request, ...rest) {
    const module = load.call(this, request, ...rest);
    const found = COUNTED.find(([pattern]) => pattern.test(request));
    if (found !== undefined && !counted.has(module)) {
      counted.add(module);
      found[1](module as never);
    }
    return module;
  };
};

// A process runs many files: it counts from the first one on.
const key = Symbol.for("durable-payments.counts-starts");
if (!Reflect.has(globalThis, key)) {
  Reflect.set(globalThis, key, true);
  // Types of Node leave out the loader's function.
  countOnLoad(Module as unknown as Loader);
}

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
  // By which the reporter knows what the process has used so far.
  Object.assign(file.meta, { process: process.pid, used: { ...started(), cpu: cpuSeconds() } });
});
