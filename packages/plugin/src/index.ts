export { defineOperation, type OwnOperation } from "@durable-payments/activities";
export { BUILD } from "./build.ts";
export { CannotStart } from "./cannot-start.ts";
export { PaymentsPlugin } from "./payments-plugin.ts";
export type {
  AccountSettings,
  AmountLimits,
  NotifySettings,
  PaymentsSettings,
  Polling,
} from "./settings/payments-settings.ts";
