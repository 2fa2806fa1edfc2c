import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** Things that a process of tests has started, each of which takes about a second of CPU or more. */
export interface Started {
  /** Temporal servers. */
  servers: number;
  /** Workers, in this process or in one of their own. */
  workers: number;
  /** Bundles of workflow code, made by webpack. */
  bundles: number;
}

const key = Symbol.for("durable-payments.started");

/** Returns the counters of this process; every copy of this module shares them. */
export const started = (): Started => {
  const all = globalThis as { [key]?: Started };
  return (all[key] ??= { servers: 0, workers: 0, bundles: 0 });
};

const TICKS_PER_SECOND = 100;
/** User, system, and both of the children that have ended: fields 14 to 17 of `/proc/PID/stat`, from the third on. */
const FIRST_TIME = 11;
const TIMES = 4;

/** Returns the CPU seconds of this process and of its children that have ended; of itself alone outside of Linux. */
export const cpuSeconds = (): number => {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
    const ticks = fields.slice(FIRST_TIME, FIRST_TIME + TIMES).map(Number);
    return ticks.reduce((sum, time) => sum + time, 0) / TICKS_PER_SECOND;
  } catch {
    const { system, user } = process.cpuUsage();
    return (system + user) / 1e6;
  }
};
