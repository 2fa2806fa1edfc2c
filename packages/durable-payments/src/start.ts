/**
 * Starts payments, and decides about them, from a program of your own: what the command line does.
 *
 * @module durable-payments/start
 */
export * from "@durable-payments/control/payments";
export {
  ConnectionFailed,
  ControlError,
  EndedByPerson,
  InvalidInput,
  type NextAction,
  NotFound,
  NotAllowed,
} from "@durable-payments/control/errors";
export {
  type AwaitedStartOptions,
  type StartedPayment,
  startPayment,
  type StartPaymentOptions,
} from "@durable-payments/control/start";
