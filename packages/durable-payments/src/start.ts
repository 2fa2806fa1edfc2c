// Starts payments, and decides about them, from a program of your own: what the command line does.
export {
  type Operations,
  type OperationsSettings,
  withOperations,
} from "@durable-payments/operations/connection";
export { answer, approve, reject } from "@durable-payments/operations/decide";
export {
  ConnectionFailed,
  EndedByPerson,
  InvalidInput,
  NotFound,
  Refused,
} from "@durable-payments/operations/errors";
export { retryPayment } from "@durable-payments/operations/retry";
export { type InboxItem, listRuns, readInbox, readRun } from "@durable-payments/operations/show";
export { startPayment, type StartPaymentOptions } from "@durable-payments/operations/start";
export { cancel, pause, resume } from "@durable-payments/operations/stopping";
