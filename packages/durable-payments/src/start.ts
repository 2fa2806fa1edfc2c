/**
 * Starts payments, and decides about them, from a program of your own: what the command line does.
 *
 * @module durable-payments/start
 */
export {
  type Deciding,
  type Connected,
  type ConnectionSettings,
  withDeciding,
  withOperations,
} from "@durable-payments/control/connection";
export { answer, approve, reject } from "@durable-payments/control/decide";
export {
  ConnectionFailed,
  EndedByPerson,
  InvalidInput,
  NotFound,
  NotAllowed,
} from "@durable-payments/control/errors";
export {
  approveLimits,
  type LimitsView,
  readLimits,
  setLimits,
} from "@durable-payments/control/limits";
export { retryPayment } from "@durable-payments/control/retry";
export {
  type InboxItem,
  listRuns,
  readInbox,
  readReport,
  readRun,
} from "@durable-payments/control/show";
export {
  type AwaitedStartOptions,
  type StartedPayment,
  startPayment,
  type StartPaymentOptions,
} from "@durable-payments/control/start";
export { cancel, pause, resume } from "@durable-payments/control/stopping";
