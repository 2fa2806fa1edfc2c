export { type AttemptTrace, inAttemptTrace } from "./run-operation.ts";
export {
  type ActivitiesOptions,
  type ContractWriteActivities,
  type LongActivityOptions,
  makePaymentsActivities,
  type PaymentsActivities,
} from "./make-activities.ts";
export type { NotifierActivities } from "./notifications/notifier-activities.ts";
export { type NotificationSettings, readNotificationSettings } from "./notifications/settings.ts";
export type { ReadActivities } from "./reads.ts";
export type { PaymentsRuntime } from "./run-operation.ts";
export { cardholderState, isCardRefused, payoutState } from "./statuses.ts";
export { readRunState, type RunState } from "./tracker/runs.ts";
export { readTracked } from "./tracker/witness.ts";
export type { WaitsBy } from "./waits/wait-activities.ts";
export type { WorkerCheckActivities } from "./worker-check.ts";
export * from "./write/index.ts";
