export type { BatchActivities, ChunkToStart, StartedRows } from "./batch-activities.ts";
export type { ApprovalActivities } from "./approval-activities.ts";
export { type ReadPause } from "./pause.ts";
export type { AboveLimit, AnsweredCard, CheckedRequests } from "./check-activities.ts";
export type { PlannedRequest } from "./planned-requests.ts";
export type { EarlierSends } from "./earlier-sends.ts";
export type { ForgottenSend, FoundByStep, KnownSends } from "./journal-activities.ts";
export { type AmountLimits, readAmountLimits } from "./amount-limits.ts";
export { readSigningSecrets, type SigningSecrets } from "./signing-secrets.ts";
export { NEEDS_APPROVAL, NOT_YET, PAUSED, RUN_CANCELLING, RUN_ENDED } from "./failures.ts";
export {
  LIST_DOES_NOT_ADD_UP,
  type Match,
  type Matches,
  type Sent,
} from "./reconciliation-activities.ts";
export type { OperationActivities } from "./operation-activities.ts";
export {
  type ActivitiesOptions,
  makePaymentsActivities,
  type PaymentsActivities,
} from "./payments-activities.ts";
export {
  type QueueOptions,
  type QueueRates,
  type WorkerQueues,
  workerQueues,
} from "./worker-queues.ts";
export type { OwnInput, OwnInputs } from "./own-inputs.ts";
export type {
  CallContext,
  Made,
  OwnMatch,
  OwnOperation,
  OwnOperations,
  SendContext,
} from "./own-operation.ts";
export type { OwnResult } from "./own-operation-call.ts";
export { OTHER_ACCOUNT, type OfAccount, UNKNOWN_ACCOUNT } from "./account-check.ts";
export { type AttemptTrace, inAttemptTrace } from "./attempt-trace.ts";
export { forAccounts } from "./several-accounts.ts";
export type { ReadReset } from "./reset-activities.ts";
export type { PaymentsRuntime } from "./run-operation.ts";
export type { ReadRunStart, RunStart } from "./run-start.ts";
export type { ReadRunState, RunState } from "./run-state.ts";
export type { ReadEarlierRuns } from "./earlier-runs.ts";
export type { TrackerActivities, TrackerOptions, Tracking } from "./tracker-activity.ts";
export type { NotifierActivities, NotifierOptions } from "./notifications/notifier-activities.ts";
export type { WorkerCheckActivities } from "./worker-check.ts";
export { type NotificationSettings, readNotificationSettings } from "./notifications/settings.ts";
export { makeSignInLeases, type SignInBudget } from "./sign-in-leases.ts";
export type { PollSchedule } from "./poll-schedule.ts";
export type { SeenCardholder, SeenFunds, SeenPayout } from "./waiting-activities.ts";
export {
  ALREADY_SENT,
  DISPATCH_WITHIN_MS,
  type JournalSend,
  type SendIntent,
  type SentAlready,
} from "./send-intent.ts";
