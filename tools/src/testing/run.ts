import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The variable that names the file which receives the output of the Temporal servers of a test file. */
export const SERVER_LOG = "DURABLE_PAYMENTS_SERVER_LOG";

/** The variable that names a run of tests; the processes of Vitest inherit it. */
const RUN_VARIABLE = "DURABLE_PAYMENTS_TEST_RUN";

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
