export type { BatchActivities, PageToStart, RunEndings, StartedRows } from "./batch-activities.ts";
export type { BatchRow } from "./batch-rows.ts";
export { type Brake, brakeId, type Pause } from "./brake.ts";
export type { AnsweredCard, PlannedRequest } from "./check-activities.ts";
export type { ForgottenSend, FoundByStep, KnownSends } from "./journal-activities.ts";
export { type MaxAmounts, readMaxAmounts } from "./limits.ts";
export { NOT_YET, PAUSED, RUN_CANCELLING, RUN_ENDED } from "./failures.ts";
export { LIST_DOES_NOT_ADD_UP, type Match, type Matches, type Sent } from "./lookup-activities.ts";
export type { OperationActivities } from "./operation-activities.ts";
export {
  type ActivitiesOptions,
  makePaymentsActivities,
  type PaymentsActivities,
} from "./payments-activities.ts";
export { baseQueue, bulkQueue, safetyNetQueue, serviceQueue } from "./task-queues.ts";
export {
  type QueueOptions,
  type QueueRates,
  type WorkerQueues,
  workerQueues,
} from "./worker-queues.ts";
export { OTHER_ACCOUNT, type OfAccount } from "./pinned.ts";
export type { ReadReset } from "./retry-activities.ts";
export type { EndingDecision, RetryOrder, SentBefore } from "./retry-order.ts";
export type { PaymentsRuntime } from "./run-operation.ts";
export type { AskRunState, RunState } from "./run-state.ts";
export type { TrackerActivities, TrackerOptions, Tracking } from "./tracker-activity.ts";
export { type Account, accountHash, clientHash, trackerId } from "./account.ts";
export type { TrackerSignals } from "./tracker-sweep.ts";
export { makeSignInPermits, type SignInBudget } from "./sign-in-permits.ts";
export type {
  CheckedCardholder,
  EndedPayout,
  Pace,
  SeenCardholder,
  SeenFunds,
  SeenPayout,
} from "./waiting-activities.ts";
export {
  ALREADY_SENT,
  DISPATCH_WITHIN_MS,
  type SendIntent,
  type JournalSend,
  type SentAlready,
} from "./send-intent.ts";
