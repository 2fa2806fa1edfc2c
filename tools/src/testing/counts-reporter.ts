import type { SerializedError } from "vitest";
import type { Reporter, TestModule, Vitest } from "vitest/node";

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

/** A reporter of Vitest that ends the output with "12 passed, 0 failed", and the skipped ones where there are any. */
export default class CountsReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>): void {
    const without = (this.#vitest?.projects ?? [])
      .filter((project) => !modules.some((module) => module.project === project))
      .map(({ name }) => name);
    for (const name of without) process.stdout.write(`${name}: it has no tests\n`);
    if (without.length > 0) process.exitCode = 1;
    const { passed, failed, skipped } = countTests(modules, errors, without);
    const last = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(`\n${passed} passed, ${failed} failed${last}\n`);
  }
}
