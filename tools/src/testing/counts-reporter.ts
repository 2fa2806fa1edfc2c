import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SerializedError } from "vitest";
import { MinimalReporter, type TestModule, type TestRunEndReason } from "vitest/node";
import { overBudget, type Use } from "./budget.ts";
import { RUN_VARIABLE, type Started } from "./started.ts";

/**
 * Counts the tests of a run. A file that fails outside of its tests counts as a failed test, and so does an error
 * that belongs to no test.
 */
export const countTests = (
  modules: ReadonlyArray<TestModule>,
  errors: ReadonlyArray<unknown>,
): { readonly passed: number; readonly failed: number; readonly skipped: number } => {
  const states = modules.flatMap((module) => {
    const tests = [...module.children.allTests()].map((test) => test.result().state);
    return module.state() === "failed" && !tests.includes("failed") ? [...tests, "failed"] : tests;
  });
  const passed = states.filter((state) => state === "passed").length;
  const failed = states.filter((state) => state === "failed").length;
  return { passed, failed: failed + errors.length, skipped: states.length - passed - failed };
};

/** The path of a file of tests in the checkout. */
const nameOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);

/** Returns the skipped tests of a run by their file and reason; those of one file and reason in one line. */
export const skippedTests = (modules: ReadonlyArray<TestModule>): ReadonlyArray<string> => {
  const skipped = modules.flatMap((module) => {
    const otherwise = module.state() === "failed" ? "its file failed" : "no reason is given";
    return [...module.children.allTests()].flatMap((test) => {
      const result = test.result();
      if (result.state !== "skipped") return [];
      const reason = result.note ?? test.meta().skipReason ?? otherwise;
      return [{ why: `${nameOf(module)}: ${reason}`, name: test.fullName }];
    });
  });
  return [...Map.groupBy(skipped, ({ why }) => why)].map(([why, [first, ...more]]) =>
    more.length === 0 ? `${why} (${first?.name})` : `${why} (${more.length + 1} tests)`,
  );
};

declare module "vitest" {
  interface TaskMeta {
    /** The process that ran a file, and everything it has used when the file ends: setup-file.ts. */
    process?: number;
    used?: Started & { readonly cpu: number };
  }
}

const NOTHING = { servers: 0, workers: 0, bundles: 0, cpu: 0 };

/** Sums what the files of each project used, of which each process of Vitest reports its total so far. */
export const useByProject = (
  modules: ReadonlyArray<Pick<TestModule, "meta"> & { project: { name: string } }>,
): ReadonlyMap<string, Use> => {
  const totals = new Map<string, Use>();
  const byProcess = Map.groupBy(modules, (module) => module.meta().process);
  for (const files of byProcess.values()) {
    const uses = files
      .map((module) => ({ project: module.project.name, ...NOTHING, ...module.meta().used }))
      .toSorted((a, b) => a.cpu - b.cpu);
    let before = NOTHING;
    for (const { project, ...used } of uses) {
      const sum = totals.get(project) ?? { servers: 0, workers: 0, bundles: 0, cpuSeconds: 0 };
      totals.set(project, {
        servers: sum.servers + used.servers - before.servers,
        workers: sum.workers + used.workers - before.workers,
        bundles: sum.bundles + used.bundles - before.bundles,
        cpuSeconds: sum.cpuSeconds + used.cpu - before.cpu,
      });
      before = used;
    }
  }
  return totals;
};

const ENDS_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 250;

const fileOf = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has ended, is another user's, or this is not Linux.
    return "";
  }
};

const processes = (): ReadonlyArray<string> => {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
};

/**
 * Finds processes that a run of tests has started and not ended. It waits for those that are ending.
 *
 * @param run value of the variable that marks them.
 * @returns process id and command line of each.
 */
export const processesLeftBehind = async (
  run: string | undefined,
  withinMs = ENDS_WITHIN_MS,
): Promise<ReadonlyArray<string>> => {
  const until = performance.now() + withinMs;
  for (;;) {
    const left = processes()
      .filter((pid) => pid !== `${process.pid}`)
      .filter((pid) => fileOf(pid, "environ").split("\0").includes(`${RUN_VARIABLE}=${run}`))
      .map((pid) => `${pid} ${fileOf(pid, "cmdline").replaceAll("\0", " ").slice(0, 120)}`)
      .filter((line) => !line.includes("vitest"));
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(LOOK_EVERY_MS);
  }
};

const SLOWEST = 10;

const row = (name: string, seconds: number, more = ""): string =>
  `${seconds.toFixed(1).padStart(8)} s  ${name}${more}\n`;

/**
 * A reporter of Vitest whose output fits a screen while tests pass: a dot for each file of tests (x for a failed
 * file), errors, where the time went, the reason of each skipped test, and at the end "12 passed, 0 failed". Fails a
 * run that is over the budget of a project, or leaves a process behind.
 */
export default class CountsReporter extends MinimalReporter {
  override printTestModule(module: TestModule): void {
    this.ctx.logger.outputStream.write(module.state() === "failed" ? "x" : "·");
  }

  override async onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): Promise<void> {
    this.log();
    super.onTestRunEnd(modules, errors, reason);
    const print = (text: string) => void process.stdout.write(text);
    const uses = [...useByProject(modules)].toSorted((a, b) => b[1].cpuSeconds - a[1].cpuSeconds);
    print("\nCPU seconds by project, with the servers, workers and bundles that it started:\n");
    for (const [name, { bundles, cpuSeconds, servers, workers }] of uses) {
      print(row(name, cpuSeconds, ` ${servers}, ${workers}, ${bundles}`));
    }
    print("The slowest files:\n");
    const seconds = (module: TestModule) => module.diagnostic().duration / 1000;
    const slowest = modules.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
    for (const module of slowest) print(row(nameOf(module), seconds(module)));
    for (const line of skippedTests(modules)) print(`Skipped: ${line}\n`);

    const left = await processesLeftBehind(process.env[RUN_VARIABLE]);
    // The nightly tests have no budget.
    const isNightly = process.env["NIGHTLY"] !== undefined;
    const faults = [
      ...this.ctx.projects
        .filter((project) => !modules.some((module) => module.project === project))
        .map(({ name }) => `${name} has no tests`),
      ...(isNightly ? [] : uses.flatMap(([name, use]) => overBudget(name, use))),
      ...left.map((one) => `The tests left a process behind: ${one}`),
    ];
    for (const one of left) process.kill(Number.parseInt(one, 10), "SIGKILL");
    for (const fault of faults) print(` ✗ ${fault}\n`);
    if (faults.length > 0) process.exitCode = 1;
    const { failed, passed, skipped } = countTests(modules, errors);
    const last = skipped > 0 ? `, ${skipped} skipped` : "";
    print(`\n${passed} passed, ${failed + faults.length} failed${last}\n`);
  }
}
