export { defineOperation, type OwnOperation } from "@durable-payments/activities";
export { CannotStart } from "./cannot-start.ts";
export { PaymentsPlugin } from "./payments-plugin.ts";
export type {
  AccountSettings,
  AmountLimits,
  NotifySettings,
  PaymentsSettings,
  Polling,
} from "./settings/payments-settings.ts";
