import type { Duration } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { setTimeout as sleepInRealTime } from "node:timers/promises";

/** The time of a Temporal server that runs for tests. */
export interface TestClock {
  /** Milliseconds since 1970, by the server. */
  readonly now: () => Promise<number>;
  /** The same as it was known last, at once: for what cannot wait for the server's answer. */
  readonly known: () => number;
  /** Lets so much of the server's time pass; of what falls due, each thing at its time. */
  readonly sleep: (duration: Duration) => Promise<void>;
  /**
   * Lets the server's time pass until something has happened.
   *
   * @param hasHappened is asked before each step, the longest of which is a day.
   */
  readonly passUntil: (hasHappened: () => Promise<boolean>) => Promise<void>;
}

const FIRST_STEP_MS = 1_000;
const LONGEST_STEP_MS = 24 * 60 * 60_000;

/** How often a server that keeps real time is asked. */
const LOOK_EVERY_MS = 20;

/**
 * So much time passes in one wait. The server ends a run after ten years, and a run that waits for a signal would have got
 * there at once: while a client awaits a result, the SDK lets the server skip to whatever is due next, however far off.
 */
const MOST_PASSED_MS = 2 * 365 * LONGEST_STEP_MS;

/** Waits for so long by the computer's clock. */
export const pause = async (milliseconds: number): Promise<void> => {
  await sleepInRealTime(milliseconds);
};

/** Make the clock of a server of the SDK's test environment. */
export const testClockOf = (environment: TestWorkflowEnvironment): TestClock => {
  // The server ends as soon as two sleeps overlap: it takes that for a fault.
  let last: Promise<unknown> = Promise.resolve();
  /** How far the server's time is ahead of the computer's. */
  let ahead = 0;
  const now = async (): Promise<number> => {
    const time = await environment.currentTimeMs();
    ahead = time - Date.now();
    return time;
  };
  const sleep = (duration: Duration): Promise<void> => {
    const slept = last.then(async () => {
      await environment.sleep(duration);
      await now();
    });
    last = slept.catch(() => undefined);
    return slept;
  };

  const skipUntil: TestClock["passUntil"] = async (hasHappened) => {
    let passed = 0;
    for (let step = FIRST_STEP_MS; !(await hasHappened());) {
      if (passed < MOST_PASSED_MS) await sleep(step);
      else await pause(LOOK_EVERY_MS);
      passed += step;
      step = Math.min(2 * step, LONGEST_STEP_MS);
    }
  };

  const waitUntil: TestClock["passUntil"] = async (hasHappened) => {
    while (!(await hasHappened())) await pause(LOOK_EVERY_MS);
  };

  return environment.supportsTimeSkipping
    ? { now, known: () => Date.now() + ahead, sleep, passUntil: skipUntil }
    : {
        now: async () => Date.now(),
        known: () => Date.now(),
        sleep: (duration) => environment.sleep(duration),
        passUntil: waitUntil,
      };
};
