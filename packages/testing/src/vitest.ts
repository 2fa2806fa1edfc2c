import { bundleOf, defaultWorkflows } from "./bundles.ts";
import { beginTest, type PaymentsTest } from "./payments-test.ts";
import { type PaymentsTestOptions, TestBench } from "./test-bench.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A download of the server, and the first bundle of the workflows, take their time. */
const START_WITHIN_MS = 120_000;

/** Waits end this long before Vitest's timeout: our error describes the run, and Vitest's does not. */
const BEFORE_TIMEOUT_MS = 2_500;

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
 * tests, and a service and a ledger for each test. A wait of a test ends shortly before Vitest's `testTimeout`,
 * with an error that describes the run. Not for concurrent tests (`test.concurrent`).
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
  beforeEach(async ({ task }) => {
    const { waitLimitMs = Math.max(task.timeout / 2, task.timeout - BEFORE_TIMEOUT_MS) } = options;
    payments = bench && (await beginTest(bench, waitLimitMs));
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
  return startedLast(() => payments);
};
