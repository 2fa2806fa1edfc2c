export { decide } from "./decide.ts";
export { isApproval, listWaitingRuns, type WaitingRun } from "./human-tasks.ts";
export type { JournalRecord } from "../history/journal-record.ts";
export { withJournalRecords } from "../history/with-journal-records.ts";
export { listRunsInDoubt, type RunInDoubt } from "./in-doubt.ts";
export {
  type AskedTask,
  readApproval,
  readHumanTask,
  type ResolveOptions,
  resolveRun,
} from "./resolve.ts";
export { settle, type Settled, type SettleOptions } from "./settle.ts";
