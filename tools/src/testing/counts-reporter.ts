import { globSync, readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SerializedError } from "vitest";
import { MinimalReporter, type TestModule, type TestRunEndReason } from "vitest/node";
import { BUDGETS, RUN_VARIABLE } from "./run.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The CPU seconds of a file: setup-file.ts. */
    cpuSeconds?: number;
  }
}

/** Counts the tests of a run. A file that fails outside of its tests counts as a failed test. */
const countTests = (modules: ReadonlyArray<TestModule>) => {
  const states = modules.flatMap((module) => {
    const tests = [...module.children.allTests()].map((test) => test.result().state);
    return module.state() === "failed" && !tests.includes("failed") ? [...tests, "failed"] : tests;
  });
  const count = (wanted: string) => states.filter((state) => state === wanted).length;
  const [passed, failed] = [count("passed"), count("failed")];
  return { passed, failed, skipped: states.length - passed - failed };
};

/** The path of a file of tests in the checkout. */
const nameOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);

/** Returns the skipped tests of a run by their file and reason; those of one file and reason in one line. */
const skippedTests = (modules: ReadonlyArray<TestModule>): ReadonlyArray<string> => {
  const skipped = modules.flatMap((module) => {
    const otherwise = module.state() === "failed" ? "its file failed" : "no reason is given";
    return [...module.children.allTests("skipped")].map((test) => {
      const result = test.result();
      const note = result.state === "skipped" ? result.note : undefined;
      const reason = note ?? test.meta().skipReason ?? otherwise;
      return { why: `${nameOf(module)}: ${reason}`, name: test.fullName };
    });
  });
  return [...Map.groupBy(skipped, ({ why }) => why)].map(([why, [first, ...more]]) =>
    more.length === 0 ? `${why} (${first?.name})` : `${why} (${more.length + 1} tests)`,
  );
};

/** A busy machine takes more CPU for the same work: caches are cold, timers fire, and polls repeat. */
const TOLERANCE = 3;

/** Returns a line for a project whose tests used more CPU than its budget; undefined for the others. */
export const overBudget = (project: string, used: number): string | undefined => {
  const budget = BUDGETS[project];
  if (budget === undefined) return `${project} has no budget in test-budget.json`;
  if (used <= budget * TOLERANCE) return undefined;
  return `${project} used ${used.toFixed(0)} CPU seconds of ${budget}`;
};

const ENDS_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 250;

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8").replaceAll("\0", " ");
  } catch {
    // The process has ended, or is another user's.
    return "";
  }
};

/**
 * Finds processes that a run of tests has started and not ended, where /proc shows them. It waits for those that are
 * ending.
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
    const left = globSync("/proc/[0-9]*")
      .filter((folder) => basename(folder) !== `${process.pid}`)
      .filter((folder) => textOf(`${folder}/environ`).includes(`${RUN_VARIABLE}=${run} `))
      .map((folder) => `${basename(folder)} ${textOf(`${folder}/cmdline`).slice(0, 120)}`)
      .filter((line) => !line.includes("vitest"));
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(LOOK_EVERY_MS);
  }
};

const SLOWEST = 10;

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
    const printLongest = (seconds: ReadonlyMap<string, number>, count = seconds.size) => {
      const longest = [...seconds].toSorted((a, b) => b[1] - a[1]).slice(0, count);
      for (const [name, took] of longest) print(`${took.toFixed(1).padStart(8)} s  ${name}\n`);
    };
    const used = new Map<string, number>();
    for (const module of modules) {
      const { name } = module.project;
      used.set(name, (used.get(name) ?? 0) + (module.meta().cpuSeconds ?? 0));
    }
    print("\nCPU seconds by project:\n");
    printLongest(used);
    print("The slowest files:\n");
    const took = modules.map((one) => [nameOf(one), one.diagnostic().duration / 1000] as const);
    printLongest(new Map(took), SLOWEST);
    for (const line of skippedTests(modules)) print(`Skipped: ${line}\n`);

    const left = await processesLeftBehind(process.env[RUN_VARIABLE]);
    // The nightly tests have no budget.
    const isNightly = process.env["NIGHTLY"] !== undefined;
    const faults = [
      ...(isNightly ? [] : [...used].flatMap(([name, cpu]) => overBudget(name, cpu) ?? [])),
      ...left.map((one) => `The tests left a process behind: ${one}`),
    ];
    for (const one of left) process.kill(Number.parseInt(one, 10), "SIGKILL");
    for (const fault of faults) print(` ✗ ${fault}\n`);
    if (faults.length > 0) process.exitCode = 1;
    const { failed, passed, skipped } = countTests(modules);
    const last = skipped > 0 ? `, ${skipped} skipped` : "";
    print(`\n${passed} passed, ${failed + errors.length + faults.length} failed${last}\n`);
  }
}
