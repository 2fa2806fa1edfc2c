export { advance } from "./model/advance.ts";
export type * from "./model/events.ts";
export { answerTo, batchLogId } from "./model/gate.ts";
export { approvalReason, HAS_PART, isAbout, whyNobody, whyNotApprover } from "./model/approvals.ts";
export {
  type AccountLimits,
  type Amounts,
  type Limits,
  limitsId,
  limitsOf,
  needsApproval,
  overLimit,
} from "./model/limits.ts";
export type { EventSubject, EventType } from "./model/feed.ts";
export { isSamePerson, nameProblem, reasonProblem } from "./model/person.ts";
export { readIntervalMs } from "./model/reading-schedule.ts";
export type * from "./model/row.ts";
export { grownWait, LEAVES_WITHIN_MS, newRow } from "./model/row-changes.ts";
export * from "./open-ledger.ts";
export * from "./store/ledger.ts";
export { awaitsApproval, isNotPaid, moneyStateOf, outcomeReason } from "./model/standing.ts";
export type * from "./model/standing.ts";
export { type FeedEvent, numberIn, UnknownCursor } from "./store/feed-methods.ts";
export { trackerLease } from "./store/attention.ts";
export type * from "./store/attention.ts";
export { type DecidedWord, plainWord, type WordMeaning, wordsId } from "./store/word-methods.ts";
export { type MoneyGroup, moneyGroupOf, RUN_SORTS, type RunSort } from "./store/list-runs.ts";
export type * from "./store/list-runs.ts";
export type { FailedRun, FailureGroup } from "./store/failure-groups.ts";
export { lateSince, type RunFilter } from "./store/run-filter.ts";
export type { CardholderWrite } from "./store/payees.ts";
export type { ReadPayout, SeenOfPayout } from "./store/payout-methods.ts";
export type { RecordedWrite } from "./store/write-rows.ts";
export { endAmong } from "./store/log.ts";
export { wasNeverStarted } from "./store/run-methods.ts";
export { OPEN_STATUSES, PAYOUT_FAILED, PURPOSES } from "./store/run-status.ts";
export { LedgerUnavailable, NotOfLedger } from "./store/store.ts";
export type { Seal } from "./store/table.ts";
