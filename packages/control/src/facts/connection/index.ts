export {
  type AccountSettings,
  type Deciding,
  type KnownAccount,
  ledgerOf,
  type LedgerSettings,
  type Operations,
  type OperationsSettings,
  type ServiceSettings,
  type Sources,
  withDeciding,
  withLedger,
  withOperations,
  withSources,
} from "./operations.ts";
export {
  decodingConnection,
  type RunState,
  type Temporal,
  type TemporalSettings,
  temporalSettings,
} from "./temporal.ts";
