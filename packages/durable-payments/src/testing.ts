/**
 * Tests payment workflows in seconds: a Temporal server that skips waiting, and a simulated service that breaks.
 *
 * @module durable-payments/testing
 */
export {
  type FaultKind,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from "@durable-payments/simulator";
export {
  CannotReset,
  CannotStartServer,
  createPaymentsTest,
  NotReplayable,
  type PaymentsRun,
  type PaymentsTest,
  type PaymentsTestOptions,
  startTestServer,
  type TestServer,
  usePaymentsTest,
  WaitedTooLong,
} from "@durable-payments/testing";
