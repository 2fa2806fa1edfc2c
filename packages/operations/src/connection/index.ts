export { type NamedAccount, readNamedAccounts } from "./accounts.ts";
export { decodingConnection } from "./decoding-connection.ts";
export {
  type JournalSettings,
  NoJournal,
  type OpenedJournal,
  withJournal,
  withJournalOrNot,
} from "./journal.ts";
export { readRetention } from "./retention.ts";
export {
  type ServiceSettings,
  type TemporalSettings,
  temporalSettings,
  webUiLink,
} from "./settings.ts";
export { connectTemporal, onTemporal, type Temporal, withTemporal } from "./temporal.ts";
export { traceStarts } from "./trace-starts.ts";
export type { Unanswered } from "./workers.ts";
