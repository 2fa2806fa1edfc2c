export { defineOperation, type OwnOperation } from "@durable-payments/activities";
export { PaymentsPlugin } from "./payments-plugin.ts";
export type { AccountSettings } from "@durable-payments/protocol/settings";
export { CannotStart, type PaymentsSettings, type Polling } from "./settings.ts";
