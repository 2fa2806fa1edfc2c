import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that names the run of tests which a process belongs to; children inherit it. */
const RUN_VARIABLE = "DURABLE_PAYMENTS_TEST_RUN";

const ENDS_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 250;

/** Marks this process and those that it starts from now on. */
export const markTestRun = (): void => {
  process.env[RUN_VARIABLE] ??= `${process.pid}`;
};

const fileOf = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has ended, or is another user's.
    return "";
  }
};

const commandOf = (pid: string): string => fileOf(pid, "cmdline").replaceAll("\0", " ").trim();

const remaining = (): ReadonlyArray<string> => {
  const mark = `${RUN_VARIABLE}=${process.env[RUN_VARIABLE]}`;
  let pids: ReadonlyArray<string> = [];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    // Only Linux shows processes there.
  }
  return pids
    .filter((pid) => pid !== `${process.pid}`)
    .filter((pid) => fileOf(pid, "environ").split("\0").includes(mark))
    .filter((pid) => !/vitest/.test(commandOf(pid)))
    .map((pid) => `${pid} ${commandOf(pid).slice(0, 120)}`);
};

/**
 * Finds processes that tests have started and not ended. What is ending is waited for.
 *
 * @returns process id and command line of each.
 */
export const processesLeftBehind = async (): Promise<ReadonlyArray<string>> => {
  const until = performance.now() + ENDS_WITHIN_MS;
  for (;;) {
    const left = remaining();
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(LOOK_EVERY_MS);
  }
};
