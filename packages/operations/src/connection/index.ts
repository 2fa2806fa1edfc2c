export { readTextSeal } from "@durable-payments/codec";
export {
  type AccountSettings,
  type KnownAccount,
  ledgerOf,
  type LedgerSettings,
  type Operations,
  type OperationsSettings,
  type Sources,
  withOperations,
  withSources,
} from "./operations.ts";
export { type ServiceSettings, type TemporalSettings, temporalSettings } from "./settings.ts";
export { decodingConnection, type RunState, type Temporal } from "./temporal.ts";
