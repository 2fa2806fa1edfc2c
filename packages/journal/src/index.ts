export {
  type Begun,
  type BegunSend,
  type FoundSend,
  type Journal,
  JournalUnavailable,
  type KeyEcho,
  type ListName,
  type Made,
  type MadeBySend,
  type RecordedSend,
  type Send,
  type SendOutcome,
  type WriteName,
} from "./journal.ts";
export { idNameOf, idOf } from "./made-ids.ts";
export { makeMemoryJournal } from "./memory-journal.ts";
export { forbidding, isInDoubt } from "./permit.ts";
export {
  describeJournalPlace,
  JOURNAL_VARIABLE,
  type JournalPlace,
  openJournal,
  readJournalPlace,
} from "./open-journal.ts";
