import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { resultsFolder, type TestedProject } from "./projects.ts";

/** The sum of several test reports. */
export interface Summary {
  readonly passed: number;
  readonly skipped: number;
  /** What failed: tests by project, file and name; also crashes, which have no test's name. */
  readonly failures: readonly string[];
}

/** The fields of vitest's JSON report (`--reporter=json`) that are read here. */
interface VitestReport {
  readonly success: boolean;
  readonly testResults: ReadonlyArray<{
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string;
      readonly status: string;
    }>;
  }>;
}

/** Sums up what the projects have reported; a project without a report counts as one failure. */
export const summarise = async (
  projects: readonly TestedProject[],
  root: string,
): Promise<Summary> => {
  const summaries = await Promise.all(
    projects.map(async (project) => {
      try {
        const text = await readFile(join(resultsFolder(project, root), "results.json"), "utf8");
        return summariseReport(project.name, JSON.parse(text) as VitestReport, root);
      } catch {
        return { passed: 0, skipped: 0, failures: [`${project.name}: it has no test report`] };
      }
    }),
  );
  return {
    passed: sum(summaries.map(({ passed }) => passed)),
    skipped: sum(summaries.map(({ skipped }) => skipped)),
    failures: summaries.flatMap(({ failures }) => failures),
  };
};

const summariseReport = (project: string, report: VitestReport, root: string): Summary => {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failures = report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = `${project}: ${relative(root, name)}`;
    const failed = assertionResults
      .filter((test) => test.status === "failed")
      .map(({ fullName }) => `${file}: ${fullName}`);
    if (status !== "failed" || failed.length > 0) return failed;
    // The file itself failed, at its imports or in a hook.
    return [`${file}: ${message?.split("\n")[0] || "the file failed outside of its tests"}`];
  });
  if (tests.length === 0 && failures.length === 0) {
    failures.push(`${project}: it has no tests`);
  } else if (!report.success && failures.length === 0) {
    failures.push(`${project}: vitest failed outside of the tests (its output is above)`);
  }
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failed = tests.filter(({ status }) => status === "failed").length;
  return { passed, skipped: tests.length - passed - failed, failures };
};

/** "12 passed, 0 failed", and the skipped ones where there are any. */
export const countsLine = ({ passed, skipped, failures }: Summary): string =>
  `${passed} passed, ${failures.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
