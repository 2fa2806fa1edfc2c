/**
 * Runs payments in a worker of your own.
 *
 * @module durable-payments/worker
 */
export {
  type AccountSettings,
  CannotStart,
  defineOperation,
  type OwnOperation,
  PaymentsPlugin,
  type PaymentsSettings,
} from "@durable-payments/plugin";
