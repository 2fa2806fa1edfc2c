export { JournalUnavailable } from "./errors.ts";
export {
  type Begun,
  type BegunSend,
  type FoundSend,
  type Journal,
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
export { forbidding, isInDoubt } from "./send-permission.ts";
export {
  describeJournalPlace,
  JOURNAL_VARIABLE,
  type JournalPlace,
  openJournal,
  readJournalPlace,
} from "./open-journal.ts";
