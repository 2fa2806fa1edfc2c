export {
  createPaymentsTest,
  type FaultOptions,
  type PaymentsTest,
  type PaymentsTestOptions,
  type StartOptions,
} from "./payments-test.ts";
export type { Asked, PaymentsRun, TestAnswer } from "./payments-run.ts";
export { NotReplayable } from "./replay.ts";
export type { TestClock } from "./test-clock.ts";
export {
  CannotStartServer,
  type ServerKind,
  startTestServer,
  type TestServer,
} from "./test-server.ts";
export { WaitedTooLong } from "./wait-limit.ts";
