export { readTextSeal } from "@durable-payments/codec";
export { decodingConnection } from "./decoding-connection.ts";
export type { LedgerSettings } from "./operations.ts";
export {
  type KnownAccount,
  ledgerOf,
  type Operations,
  type OperationsSettings,
  type Sources,
  withOperations,
  withSources,
} from "./operations.ts";
export { type ServiceSettings, type TemporalSettings, temporalSettings } from "./settings.ts";
export type { RunState, Temporal } from "./temporal.ts";
