export { readTextSeal } from "@durable-payments/codec";
export { changing } from "./changing.ts";
export { decodingConnection } from "./decoding-connection.ts";
export { type LedgerSettings, openWorkersLedger } from "./ledger.ts";
export {
  type KnownAccount,
  type Operations,
  type OperationsSettings,
  type Sources,
  withOperations,
  withSources,
} from "./operations.ts";
export { noWorker, pollersOf, type Unanswered } from "./pollers.ts";
export {
  type ServiceSettings,
  type TemporalSettings,
  temporalSettings,
  webUiAddress,
  webUiLink,
} from "./settings.ts";
export { connectTemporal, onTemporal, type Temporal, withTemporal } from "./temporal.ts";
export { asTemporalError, detailsOf, isNoAnswer } from "./temporal-errors.ts";
