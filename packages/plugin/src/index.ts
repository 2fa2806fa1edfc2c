export { defineOperation, type OwnOperation } from "@durable-payments/activities";
export { PaymentsPlugin } from "./payments-plugin.ts";
export {
  type AccountSettings,
  type AmountLimits,
  CannotStart,
  type NotifySettings,
  type PaymentsSettings,
  type Polling,
} from "./settings.ts";
