// Tests payment workflows in seconds: a Temporal server that skips waiting, and a simulated service that breaks.
export {
  type FaultKind,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "@durable-payments/simulator";
export {
  CannotStartServer,
  createPaymentsTest,
  NotReplayable,
  type PaymentsRun,
  type PaymentsTest,
  type PaymentsTestOptions,
  startTestServer,
  type TestServer,
  WaitedTooLong,
} from "@durable-payments/testing";

const outsideOfVitest = (): never => {
  throw new Error("usePaymentsTest works in Vitest only: use createPaymentsTest instead.");
};

/**
 * Tests payment workflows in Vitest. Called once in a file or a `describe`, it has one server and one worker for all
 * tests, and a service and a ledger for each. Not for `test.concurrent`.
 *
 * @param options those of {@link createPaymentsTest}
 * @returns what belongs to the running test, for use in tests and hooks
 * @throws Error outside of Vitest
 */
export const usePaymentsTest: typeof import("@durable-payments/testing/vitest").usePaymentsTest =
  // Vitest's own module fails where Vitest does not run.
  process.env["VITEST"] === undefined
    ? outsideOfVitest
    : (await import("@durable-payments/testing/vitest")).usePaymentsTest;
