export { LedgerUnavailable } from "./errors.ts";
export * from "./model/index.ts";
export * from "./open-ledger.ts";
export * from "./store/ledger.ts";
export { endAmong } from "./store/log.ts";
export type { Seal } from "./store/table.ts";
