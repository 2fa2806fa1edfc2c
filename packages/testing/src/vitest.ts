import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { bundleOf, defaultWorkflows } from "./bundles.ts";
import { beginTest, type PaymentsTest } from "./payments-test.ts";
import { type PaymentsTestOptions, TestBench } from "./test-bench.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A download of the server, and the first bundle of the workflows, take their time. */
const START_WITHIN_MS = 120_000;

/** A wait ends so much before Vitest ends the test, which would say nothing of the run. */
const BEFORE_TIMEOUT_MS = 2_500;

const startedLast = (started: () => PaymentsTest | undefined): PaymentsTest =>
  // Each property is that of the test that runs, of which the type is PaymentsTest.
  new Proxy({} as PaymentsTest, {
    get: (_, name): unknown => {
      const value = started();
      if (value === undefined) {
        throw new Error("usePaymentsTest starts it before each test: use it in a test or a hook.");
      }
      return Reflect.get(value, name);
    },
  });

/**
 * Tests payment workflows in Vitest. Call it once in a file or a `describe`: one server and one worker for all of its
 * tests, and for each test a service and a ledger of its own. A wait of a test ends shortly before Vitest's `testTimeout`,
 * with an error that says where the run stands. Not for tests that run at once (`test.concurrent`).
 *
 * @param options as those of `createPaymentsTest`.
 * @returns what belongs to the test that runs; use it in tests and hooks.
 * @example
 * ```ts
 * const payments = usePaymentsTest({ workflowsPath: new URL("./workflows.ts", import.meta.url).href });
 *
 * test("pays", async () => {
 *   expect(await payments.run(payInvoice, [invoice])).toBe("completed");
 * });
 * ```
 */
export const usePaymentsTest = (options: PaymentsTestOptions = {}): PaymentsTest => {
  let server: TestServer | undefined;
  let bench: TestBench | undefined;
  let isOwn = false;
  let payments: PaymentsTest | undefined;
  beforeAll(async () => {
    isOwn = typeof options.server !== "object";
    server =
      typeof options.server === "object" ? options.server : await startTestServer(options.server);
    // Made once in a process: here, so that no test waits for it. Not while the server starts, which has five seconds.
    await bundleOf(options.workflowsPath ?? defaultWorkflows(), "worker", options.dataConverter);
    bench = new TestBench({ ...options, server });
  }, START_WITHIN_MS);
  beforeEach(async ({ task }) => {
    const { waitLimitMs = Math.max(task.timeout / 2, task.timeout - BEFORE_TIMEOUT_MS) } = options;
    if (bench === undefined || server === undefined) return;
    payments = await beginTest(bench, { ...options, server, waitLimitMs }, async () => {});
  }, START_WITHIN_MS);
  afterEach(async () => {
    const ended = payments;
    payments = undefined;
    await ended?.dispose();
  }, START_WITHIN_MS);
  afterAll(async () => {
    await bench?.dispose();
    if (isOwn) await server?.dispose();
  }, START_WITHIN_MS);
  return startedLast(() => payments);
};
