export { CannotStart } from "./cannot-start.ts";
export { PaymentsPlugin } from "./payments-plugin.ts";
export type {
  AccountSettings,
  NotifySettings,
  PaymentsSettings,
  Polling,
} from "./settings/payments-settings.ts";
