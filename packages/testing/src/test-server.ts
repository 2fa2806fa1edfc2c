import type { Duration } from "@durable-payments/protocol";
import { messageOf } from "@durable-payments/client/values";
import { TEST_SERVERS } from "@durable-payments/protocol/server-files";
import {
  remedyOf,
  type ServerKind,
  startTestEnvironment,
} from "@durable-payments/protocol/test-server";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { setTimeout as sleepInRealTime } from "node:timers/promises";

export type { ServerKind } from "@durable-payments/protocol/test-server";

/** The time of a Temporal server that runs for tests. */
export interface TestClock {
  /** Whether time passes at once instead of in real time. */
  readonly skipsTime: boolean;
  /** Milliseconds since 1970, by the server. */
  readonly now: () => Promise<number>;
  /** The last known time, without asking the server: for callers that cannot wait. */
  readonly known: () => number;
  /** Advances the server's clock; timers fire in order. */
  readonly sleep: (duration: Duration) => Promise<void>;
  /**
   * Lets the server's time pass until something has happened.
   *
   * @param hasHappened is called before each step; a step is a day at most.
   */
  readonly passUntil: (hasHappened: () => Promise<boolean>) => Promise<void>;
}

const FIRST_STEP_MS = 1_000;
const LONGEST_STEP_MS = 24 * 60 * 60_000;

/** How often a server that keeps real time is asked. */
const LOOK_EVERY_MS = 20;

/**
 * Longest time that passes in one wait. While a client awaits a result, the server skips to the next event, however far
 * off. A run that waits for a signal would be ended at once, by the server's limit of ten years.
 */
const MOST_PASSED_MS = 2 * 365 * LONGEST_STEP_MS;

/** Waits in real time. */
export const pause = (milliseconds: number): Promise<void> => sleepInRealTime(milliseconds);

/** Makes the clock of a server of the SDK's test environment. */
const testClockOf = (environment: TestWorkflowEnvironment): TestClock => {
  // The server ends if two sleeps overlap: it treats that as a bug.
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
    ? { skipsTime: true, now, known: () => Date.now() + ahead, sleep, passUntil: skipUntil }
    : {
        skipsTime: false,
        now: async () => Date.now(),
        known: () => Date.now(),
        sleep: (duration) => environment.sleep(duration),
        passUntil: waitUntil,
      };
};

/** A Temporal server that runs for tests. Any number of {@link PaymentsTest} can use it, one after the other. */
export interface TestServer {
  /** The SDK's own environment, for what is not here. */
  readonly environment: TestWorkflowEnvironment;
  readonly clock: TestClock;
  /**
   * Replaces the server by a new one, after a test that leaves runs open: their activities would stop the skipping of time
   * in all later tests.
   *
   * @throws CannotStartServer, as everything here does from then on.
   */
  readonly renew: () => Promise<void>;
  /** Stops the server. */
  readonly dispose: () => Promise<void>;
}

/** The server could not be started; the message says what to do. */
export class CannotStartServer extends Error {
  override readonly name = "CannotStartServer";
}

/** The real server needs no Java. */
const orDev = (kind: ServerKind): string => {
  if (kind === "dev") return remedyOf(kind);
  return process.arch === "x64"
    ? `${remedyOf(kind)} Or use the real one, which needs no Java: server: "dev".`
    : `There is none for ${process.arch}: use the real one, server: "dev", and settle payouts by simulator.setPayoutStatus or a short settleAfter.`;
};

const start = async (kind: ServerKind): Promise<Pick<TestServer, "clock" | "environment">> => {
  const environment = await startTestEnvironment(kind).catch((error: unknown) => {
    throw new CannotStartServer(
      `The ${TEST_SERVERS[kind].title} cannot be started: ${messageOf(error)}. ${orDev(kind)}`,
      { cause: error },
    );
  });
  return { environment, clock: testClockOf(environment) };
};

/**
 * Starts a Temporal server in memory on a free port; start one for all
 * tests of a file, and give it to each {@link createPaymentsTest}.
 *
 * @param kind which server; default `time-skipping`.
 * @returns the server; stop it by `dispose`.
 * @throws CannotStartServer if it is missing, or does not start; the message says what to do.
 * @example
 * ```ts
 * const server = await startTestServer();
 * after(() => server.dispose());
 * ```
 */
export const startTestServer = async (kind: ServerKind = "time-skipping"): Promise<TestServer> => {
  if (!Object.hasOwn(TEST_SERVERS, kind)) {
    throw new CannotStartServer(
      `There is no server ${kind}: pass ${Object.keys(TEST_SERVERS).join(" or ")}, or what startTestServer returned.`,
    );
  }
  let started = await start(kind);
  let notRenewed: CannotStartServer | undefined;
  /** Without this, each call to the ended server would say that its channel was shut down, and not why. */
  const running = () => {
    if (notRenewed !== undefined) throw notRenewed;
    return started;
  };
  return {
    get environment() {
      return running().environment;
    },
    get clock() {
      return running().clock;
    },
    renew: async () => {
      try {
        await running().environment.teardown();
        started = await start(kind);
      } catch (error) {
        notRenewed ??= new CannotStartServer(
          `A test left runs open, and the server that has them could not be replaced. ${messageOf(error)}`,
          { cause: error },
        );
        throw notRenewed;
      }
    },
    dispose: async () => {
      if (notRenewed === undefined) await started.environment.teardown();
    },
  };
};
