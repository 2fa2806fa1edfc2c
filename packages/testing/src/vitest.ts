import type { RunnerTestCase } from "vitest";
import { bundleOf, defaultWorkflows } from "./bundles.ts";
import { beginTest, type PaymentsTest } from "./payments-test.ts";
import { checkOptions, type PaymentsTestOptions, TestBench } from "./test-bench.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A download of the server, and the first bundle of the workflows, take their time. */
const START_WITHIN_MS = 120_000;

/** Waits end this long before Vitest's timeout: our error describes the run, and Vitest's does not. */
const BEFORE_TIMEOUT_MS = 2_500;

/** A short timeout keeps this part for the waits. */
const LEAST_PART = 0.8;

/** A wait that begins too late gets the time that it takes to ask the server once. */
const SHORTEST_WAIT_MS = 250;

/**
 * Counts the time that is left for the waits of a test. Vitest's timeout begins after all hooks, and no hook sees that: the
 * first use of the test outside of hooks counts as the beginning. A hook has a timeout of its own.
 */
const timeLeft = (task: RunnerTestCase) => {
  const all = Math.max(LEAST_PART * task.timeout, task.timeout - BEFORE_TIMEOUT_MS);
  let until: number | undefined;
  const isInHook = () => Object.values(task.result?.hooks ?? {}).includes("run");
  return {
    used: () => {
      if (!isInHook()) until ??= Date.now() + all;
    },
    limitMs: () =>
      until === undefined || isInHook() ? all : Math.max(SHORTEST_WAIT_MS, until - Date.now()),
  };
};

const startedLast = (started: () => PaymentsTest | undefined): PaymentsTest =>
  // Reads each property of the running test, so the type is right.
  new Proxy({} as PaymentsTest, {
    get: (_, name): unknown => {
      // It is not a promise, as `await` asks.
      if (name === "then") return undefined;
      const value = started();
      if (value === undefined) {
        throw new Error(
          "usePaymentsTest starts before each test: use it only in a test or a hook.",
        );
      }
      return Reflect.get(value, name);
    },
  });

/**
 * Tests payment workflows in Vitest. Await it once in a file or a `describe`: one server and one worker for all of its
 * tests, and a service and a ledger for each test. The waits of a test end shortly before Vitest's
 * `testTimeout`, with an error that describes the run. Not for concurrent tests (`test.concurrent`).
 *
 * @param options as those of `createPaymentsTest`.
 * @returns the parts of the test that runs, for use in tests and hooks.
 * @throws the error of Vitest, outside of it.
 * @example
 * ```ts
 * const payments = await usePaymentsTest({ workflowsPath: new URL("./workflows.ts", import.meta.url).href });
 *
 * test("pays", async () => {
 *   expect(await payments.run(payInvoice, [invoice])).toBe("completed");
 * });
 * ```
 */
export const usePaymentsTest = async (options: PaymentsTestOptions = {}): Promise<PaymentsTest> => {
  checkOptions(options);
  // The other test runners do not have it.
  const { afterAll, afterEach, beforeAll, beforeEach } = await import("vitest");
  const given = typeof options.server === "object" ? options.server : undefined;
  let server: TestServer | undefined;
  let bench: TestBench | undefined;
  let payments: PaymentsTest | undefined;
  beforeAll(async () => {
    server =
      typeof options.server === "object" ? options.server : await startTestServer(options.server);
    // Made once in a process: here, so that no test waits for it. Not while the server starts, which has five seconds.
    await bundleOf(options.workflowsPath ?? defaultWorkflows(), "worker", options.dataConverter);
    bench = new TestBench({ ...options, server });
  }, START_WITHIN_MS);
  let left: ReturnType<typeof timeLeft> | undefined;
  beforeEach(async ({ task }) => {
    const { limitMs } = (left = timeLeft(task));
    payments = bench && (await beginTest(bench, () => options.waitLimitMs ?? limitMs()));
  }, START_WITHIN_MS);
  afterEach(async () => {
    const ended = payments;
    payments = undefined;
    await ended?.dispose();
  }, START_WITHIN_MS);
  afterAll(async () => {
    await bench?.dispose();
    if (given === undefined) await server?.dispose();
  }, START_WITHIN_MS);
  return startedLast(() => {
    left?.used();
    return payments;
  });
};
