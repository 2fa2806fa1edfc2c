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
export * from "@durable-payments/testing";
