export { LedgerUnavailable } from "./errors.ts";
export * from "./model/advance.ts";
export * from "./model/row.ts";
export * from "./store/batches.ts";
export * from "./store/ledger.ts";
export * from "./store/queries.ts";
export * from "./open-ledger.ts";
