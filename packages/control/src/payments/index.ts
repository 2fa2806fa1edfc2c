export * from "./open-payments.ts";
export type { Payments } from "./payments.ts";
export type * from "./options.ts";
export type * from "./upkeep.ts";
export type { OpenPaymentsSettings, ServiceAccess, TemporalAccess } from "./settings.ts";
export type { Inbox, InboxItem } from "../views/inbox.ts";
