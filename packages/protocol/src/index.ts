export { type Account, accountHash, clientHash } from "./account.ts";
export { ACCOUNT_NAME_RULE, isAccountName } from "./account-name.ts";
export { accountNumbersOf, maskFreeTexts, withoutAccounts } from "./account-numbers.ts";
export {
  accountQueue,
  CANCELLED,
  type FailureFacts,
  failureTypes,
  type Nudge,
  NUDGE,
  type PlannedRequest,
  UNDO,
  type UndoCall,
  waitTypes,
  type WriteAnswer,
  type WriteCall,
  type WriteOptions,
} from "./calls.ts";
export type { Duration } from "./duration.ts";
export { mergePatch, patchedFields } from "./merge-patch.ts";
export {
  type Delivery,
  isNotifierState,
  type Notification,
  type NotificationData,
  type NotificationType,
  notifierId,
  type NotifierState,
  type QueuedNotification,
  testNotificationUpdate,
} from "./notifications.ts";
export type {
  OnboardCardholderInput,
  OnboardCardholderOptions,
  OnboardCardholderResult,
} from "./onboarding.ts";
export type { PayoutInput, PayoutOptions, PayoutResult } from "./payout.ts";
export { isSamePerson, nameProblem, namesSomebody, reasonProblem } from "./person.ts";
export { type RunStep, rowStep, runStep } from "./row-step.ts";
export { shellQuoted } from "./shell.ts";
export { baseQueue, batchQueue, DEFAULT_TASK_QUEUE, taskQueueOf } from "./task-queues.ts";
export { TRACE_HEADER, traceHeader, traceparentIn } from "./trace-context.ts";
export { isTracked, type Tracked, type TrackerActivities, type WitnessedMark } from "./tracker.ts";
export { utc } from "./utc.ts";
export {
  caseless,
  isNotFound,
  isOperationName,
  type JsonFields,
  lastFour,
  temporalReason,
  textAt,
} from "./values.ts";
export { queryText, queryTexts } from "./visibility-query.ts";
export { type VouchedRun, VOUCHER, type Voucher, voucherOf } from "./voucher.ts";
export {
  type CardholderWait,
  type FundsWait,
  type PayoutWait,
  type SeenCardholder,
  type SeenFunds,
  type SeenPayout,
  WAIT,
  WAIT_ATTEMPT,
  type WaitActivities,
  waitActivityId,
} from "./waits.ts";
export { accountOfTracker, type TrackedAccount, trackerId, WORKFLOW } from "./workflow-types.ts";
