export { cardholderReadings } from "./evidence/cardholders.ts";
export type { LongActivityOptions } from "./long-activity.ts";
export {
  type ActivitiesOptions,
  makePaymentsActivities,
  type PaymentsActivities,
} from "./make-activities.ts";
export { type HintSettings, readHint, readHintSettings } from "./notifications/hints.ts";
export { type NotificationSettings, readNotificationSettings } from "./notifications/webhook.ts";
export { type AttemptTrace, inAttemptTrace, type PaymentsRuntime } from "./run-operation.ts";
export {
  readFirstEvent,
  type Reading,
  resetPoint,
  resetRun,
  whyNotFrom,
  startAgain,
  startAgainOf,
} from "./retry/continue-run.ts";
export { endOf, type Event, failureOf } from "./retry/history-ends.ts";
export {
  type CannotRetry,
  type Planning,
  planRetry,
  recordedFailure,
  type RetryPlan,
} from "./retry/plan-retry.ts";
export { retriedPayment } from "./retry/retry-row.ts";
export { findEnd, recordLateFailures } from "./tracker/ends.ts";
export { notifyRuns } from "./tracker/janitor.ts";
export { readings } from "./tracker/readings.ts";
export { readTracked } from "./tracker/track.ts";
export type { WaitsBy } from "./waits.ts";
export {
  type CallContext,
  defineOperation,
  type FindContext,
  type Made,
  type OwnOperation,
  type OwnOperations,
  type SendContext,
} from "./write/own-operations.ts";
export { type CompletedActivity, recordProven, type RunOfHistory } from "./write/recovered.ts";
