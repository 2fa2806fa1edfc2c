import type { SerializedError } from "vitest";
import { MinimalReporter, type TestModule, type TestRunEndReason } from "vitest/node";
import { markTestRun, processesLeftBehind } from "./left-behind.ts";

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

/** Seconds of the files of each project, and the slowest files. */
export interface Durations {
  readonly projects: ReadonlyArray<readonly [name: string, seconds: number]>;
  readonly slowest: ReadonlyArray<readonly [file: string, seconds: number]>;
}

const SLOWEST = 10;

/** Sums what the files of a run took: they run beside each other, so a run takes less than their sum. */
export const durationsOf = (modules: ReadonlyArray<TestModule>): Durations => {
  const files = modules.map(
    (module) =>
      [module.relativeModuleId, module.project.name, module.diagnostic().duration / 1000] as const,
  );
  const projects = [...Map.groupBy(files, ([, project]) => project)].map(
    ([project, ofProject]) =>
      [project, ofProject.reduce((sum, [, , seconds]) => sum + seconds, 0)] as const,
  );
  return {
    projects: projects.toSorted((one, other) => other[1] - one[1]),
    slowest: files
      .map(([file, , seconds]) => [file, seconds] as const)
      .toSorted((one, other) => other[1] - one[1])
      .slice(0, SLOWEST),
  };
};

/** The reasons of skipped tests with how many there are of each; those of a file without a reason by its name. */
export const skippedBy = (modules: ReadonlyArray<TestModule>): ReadonlyMap<string, number> => {
  const skipped = modules.flatMap((module) =>
    [...module.children.allTests()].flatMap((test) => {
      const result = test.result();
      if (result.state !== "skipped") return [];
      return [result.note ?? `${module.relativeModuleId}: no reason given`];
    }),
  );
  return new Map(
    [...Map.groupBy(skipped, (reason) => reason)].map(([why, all]) => [why, all.length]),
  );
};

const table = (rows: ReadonlyArray<readonly [string, number]>): string =>
  rows.map(([name, seconds]) => `${seconds.toFixed(1).padStart(8)} s  ${name}\n`).join("");

/**
 * A reporter of Vitest whose output fits a screen while tests pass: a dot for each file of tests (x for one
 * that failed), errors, where the time went, and at the end "12 passed, 0 failed", with the skipped ones where there
 * are any. A process that outlives the tests counts as a failure.
 */
export default class CountsReporter extends MinimalReporter {
  override onInit(...given: Parameters<MinimalReporter["onInit"]>): void {
    markTestRun();
    super.onInit(...given);
  }

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
    const without = this.ctx.projects
      .filter((project) => !modules.some((module) => module.project === project))
      .map(({ name }) => name);
    for (const name of without) process.stdout.write(`${name}: it has no tests\n`);
    const left = await processesLeftBehind();
    for (const one of left) process.stdout.write(`The tests left a process behind: ${one}\n`);
    if (without.length + left.length > 0) process.exitCode = 1;
    const { projects, slowest } = durationsOf(modules);
    process.stdout.write(`\nSeconds of all files by project:\n${table(projects)}`);
    process.stdout.write(`The slowest files:\n${table(slowest)}`);
    for (const [why, tests] of skippedBy(modules)) {
      process.stdout.write(`${tests} skipped: ${why}\n`);
    }
    const { passed, failed, skipped } = countTests(modules, errors, without);
    const last = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(`\n${passed} passed, ${failed + left.length} failed${last}\n`);
  }
}
