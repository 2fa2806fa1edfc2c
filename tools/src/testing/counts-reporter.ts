import type { SerializedError } from "vitest";
import { MinimalReporter, type TestModule, type TestRunEndReason } from "vitest/node";

/** The sum of a run of tests. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Count the tests of a run. A file that fails outside of its tests counts as one that failed, and so do an
 * error that belongs to no test and a project without tests.
 */
export const countTests = (
  modules: ReadonlyArray<TestModule>,
  errors: ReadonlyArray<unknown>,
  projectsWithoutTests: ReadonlyArray<string>,
): Counts => {
  const states = modules.flatMap((module) => {
    const tests = [...module.children.allTests()].map((test) => test.result().state);
    return module.state() === "failed" && !tests.includes("failed") ? [...tests, "failed"] : tests;
  });
  const passed = states.filter((state) => state === "passed").length;
  const failed = states.filter((state) => state === "failed").length;
  return {
    passed,
    failed: failed + errors.length + projectsWithoutTests.length,
    skipped: states.length - passed - failed,
  };
};

/**
 * A reporter of Vitest whose output fits a screen while tests pass: a dot for each file of tests (x for one
 * that failed), errors, and at the end "12 passed, 0 failed", with the skipped ones where there are any.
 */
export default class CountsReporter extends MinimalReporter {
  override printTestModule(module: TestModule): void {
    this.ctx.logger.outputStream.write(module.state() === "failed" ? "x" : "·");
  }

  override onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): void {
    this.log();
    super.onTestRunEnd(modules, errors, reason);
    const without = this.ctx.projects
      .filter((project) => !modules.some((module) => module.project === project))
      .map(({ name }) => name);
    for (const name of without) process.stdout.write(`${name}: it has no tests\n`);
    if (without.length > 0) process.exitCode = 1;
    const { passed, failed, skipped } = countTests(modules, errors, without);
    const last = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(`\n${passed} passed, ${failed} failed${last}\n`);
  }
}
