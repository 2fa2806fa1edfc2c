export { LedgerUnavailable } from "./errors.ts";
export * from "./model/index.ts";
export * from "./open-ledger.ts";
export * from "./store/batches.ts";
export * from "./store/ledger.ts";
export { endAmong } from "./store/log.ts";
export * from "./store/queries.ts";
export type { Seal } from "./store/seal.ts";
