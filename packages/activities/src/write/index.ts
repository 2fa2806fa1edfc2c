export {
  makeWriteActivities,
  type WriteActivities,
  type WriteActivity,
  type WriteActivityOptions,
} from "./activity.ts";
export { writeNames } from "./write-facts.ts";
export { NotYet, StepFailed } from "./operation.ts";
export type { Attempt } from "./guard.ts";
export { outcomeOfError, waitAfterMs } from "./outcomes.ts";
export {
  type CallContext,
  defineOperation,
  type FindContext,
  type Made,
  type OwnOperation,
  type OwnOperations,
  type SendContext,
} from "./own-operations.ts";
export { accountMark, describeAccount } from "./payees.ts";
export { keyOf, requestHash } from "./request-fields.ts";
export type { UndoCall } from "@durable-payments/protocol/calls";
