import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import budgets from "./test-budget.json" with { type: "json" };

/** The CPU seconds that the tests of each project take. */
export const BUDGETS: Readonly<Record<string, number>> = budgets;

/** The variable that names the file which receives the output of the Temporal servers of a test file. */
export const SERVER_LOG = "DURABLE_PAYMENTS_SERVER_LOG";

/** The variable that names the run of tests which a process belongs to; children inherit it. */
export const RUN_VARIABLE = "DURABLE_PAYMENTS_TEST_RUN";

/** Marks this process, and those that it starts from now on, as a run of tests; its files are removed when it ends. */
export const markTestRun = (): void => {
  // Vitest reads its configuration once more for each project.
  if (process.env[RUN_VARIABLE] !== undefined) return;
  process.env[RUN_VARIABLE] = `${process.pid}-${Date.now()}`;
  process.once("exit", () => rmSync(filesOfRun(), { recursive: true, force: true }));
};

/** Returns the folder for files that the processes of a run of tests share: bundles.ts. */
export const filesOfRun = (): string =>
  join(tmpdir(), `durable-payments-tests-${process.env[RUN_VARIABLE]}`);

const TICKS_PER_SECOND = 100;

/** Returns the CPU seconds of this process and of its children that have ended; of itself alone outside of Linux. */
export const cpuSeconds = (): number => {
  try {
    // User, system, and both of the children that have ended: fields 14 to 17, from the third on.
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { system, user } = process.cpuUsage();
    return (system + user) / 1e6;
  }
};
