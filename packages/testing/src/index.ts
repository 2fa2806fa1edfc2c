export {
  createPaymentsTest,
  type FaultOptions,
  type PaymentsTest,
  type StartOptions,
} from "./payments-test.ts";
export type { PaymentsTestOptions } from "./test-bench.ts";
export { type Asked, CannotReset, type PaymentsRun, type TestAnswer } from "./payments-run.ts";
export { NotReplayable } from "./replay.ts";
export {
  CannotStartServer,
  type ServerKind,
  startTestServer,
  type TestClock,
  type TestServer,
} from "./test-server.ts";
export { WaitedTooLong } from "./standing.ts";
export { usePaymentsTest } from "./vitest.ts";
