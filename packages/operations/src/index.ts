export {
  ConnectionFailed,
  EndedByPerson,
  InvalidInput,
  isOperationError,
  NotFound,
  Refused,
  type NextOperation,
  type OperationError,
} from "./errors.ts";
export { withTemporal, type Temporal } from "./connection/temporal.ts";
export { temporalSettings, webUiLink, type TemporalSettings } from "./connection/settings.ts";
export {
  NoJournal,
  withJournal,
  withJournalOrNot,
  type JournalSettings,
  type OpenedJournal,
} from "./connection/journal.ts";
export type { ServiceSettings } from "./connection/settings.ts";
export type { Unanswered } from "./connection/workers.ts";
export { readAssumptions } from "./input/check-run-file.ts";
export { planOnboarding } from "./input/onboarding.ts";
export { planPayout } from "./input/payout.ts";
export { checkId, type PlannedRun } from "./input/planned-run.ts";
export { startRun, type SubmittedRun } from "./start/start-run.ts";
export type { Failure } from "./history/failure.ts";
export { unsettledSteps } from "./history/in-doubt.ts";
export { listRuns, type ListedRun, type ListedState } from "./runs/list.ts";
export type { RunFilter, Standing } from "./runs/query.ts";
export { reportRun, type RunReport } from "./runs/report.ts";
export { describeRun, isOpen, stateOf, type Ending, type RunState } from "./runs/state.ts";
export { awaitRun } from "./runs/wait.ts";
export { watchRun, type RunUpdate } from "./runs/watch.ts";
export { exportHistory, type ExportedHistory } from "./runs/export.ts";
export type { PendingActivity } from "./runs/pending-activities.ts";
export { readTimeline } from "./timeline/read-timeline.ts";
export type { NextStep, Timeline, TimelineEvent, TimelineStep } from "./timeline/timeline.ts";
export type { RetryOptions, RetryPlan } from "./retry/plan.ts";
export { planRetryOf, retryRun, type RetriedRun } from "./retry/retry.ts";
export {
  findRunsToRetry,
  retryMany,
  type RetriedOne,
  type RetryManyOptions,
  type RetryReport,
} from "./retry/retry-many.ts";
export { decide } from "./decisions/decide.ts";
export { readHumanTask, resolveRun } from "./decisions/resolve.ts";
export { isApproval, listWaitingRuns, type WaitingRun } from "./decisions/human-tasks.ts";
export { listRunsInDoubt, type RunInDoubt } from "./decisions/in-doubt.ts";
export { settle, type Settled, type SettleOptions } from "./decisions/settle.ts";
export { describePause, findPause, pauseSends, resumeSends } from "./pause/pause.ts";
export { cancelRun, terminateRun, type EndOptions } from "./ending/end-run.ts";
export { auditRun, type AuditReport } from "./audit/audit.ts";
export { checkBatchFile, type CheckedFile } from "./batch/check-file.ts";
export { compareFunds, type Funds } from "./batch/funds.ts";
export {
  findRows,
  importBatch,
  rowsOfFile,
  type FoundRows,
  type Imported,
  type ImportObserver,
  type ImportOptions,
} from "./batch/import.ts";
export { isEachPaid, reportBatch, type BatchReport, type RunCounts } from "./batch/report.ts";
export { checkResultFile, writeResultFile, type ResultFileOptions } from "./batch/result-file.ts";
export type { RowOutcome } from "./batch/row-outcome.ts";
export { awaitBatch, countedRows, withRows, type BatchUpdate } from "./batch/wait.ts";
export {
  mayResume,
  recover,
  type LostRun,
  type RecoverOptions,
  type Recovery,
  type RecoveryPhase,
} from "./recovery/recover.ts";
export { readRunOfFile, replayRuns, selectRuns, type ReplaySelection } from "./replay/replay.ts";
export type { Check } from "./doctor/check.ts";
export { diagnose, type Diagnosis } from "./doctor/doctor.ts";
export type { DoctorSettings } from "./doctor/journal-checks.ts";
