import { globSync, readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SerializedError } from "vitest";
import { MinimalReporter, type TestModule, type TestRunEndReason } from "vitest/node";
import { RUN_VARIABLE } from "./run.ts";

/** Returns the skipped tests of a run by their file and reason; those of one file and reason in one line. */
const skippedTests = (modules: ReadonlyArray<TestModule>): ReadonlyArray<string> => {
  const skipped = modules.flatMap((module) => {
    const otherwise = module.state() === "failed" ? "its file failed" : "no reason is given";
    return [...module.children.allTests("skipped")].map((test) => {
      const result = test.result();
      const note = result.state === "skipped" ? result.note : undefined;
      const reason = note ?? test.meta().skipReason ?? otherwise;
      return { why: `${relative(process.cwd(), module.moduleId)}: ${reason}`, name: test.fullName };
    });
  });
  return [...Map.groupBy(skipped, ({ why }) => why)].map(([why, [first, ...more]]) =>
    more.length === 0 ? `${why} (${first?.name})` : `${why} (${more.length + 1} tests)`,
  );
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

/**
 * A reporter of Vitest whose output fits a screen while tests pass: a dot for each file of tests (x for a failed
 * file), errors, the reason of each skipped test, and at the end "12 passed, 0 failed". Fails a run that leaves a
 * process behind.
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
    for (const line of skippedTests(modules)) this.log(`Skipped: ${line}`);
    const left = await processesLeftBehind(process.env[RUN_VARIABLE]);
    for (const one of left) {
      this.log(` ✗ The tests left a process behind: ${one}`);
      process.kill(Number.parseInt(one, 10), "SIGKILL");
    }
    if (left.length > 0) process.exitCode = 1;
    const count = (state: "passed" | "failed" | "skipped") =>
      modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    // A file that fails outside of its tests counts as a failed test.
    const files = modules.filter(
      (module) => module.state() === "failed" && module.children.allTests("failed").next().done,
    );
    const failed = count("failed") + files.length + errors.length + left.length;
    const skipped = count("skipped") > 0 ? `, ${count("skipped")} skipped` : "";
    this.log(`\n${count("passed")} passed, ${failed} failed${skipped}`);
  }
}
