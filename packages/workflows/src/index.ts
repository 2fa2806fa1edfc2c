export { type Approval, type ApprovalRequest, approveUpdate } from "./run/approval.ts";
export {
  type Action,
  type Attention,
  type Decision,
  type Resolution,
  resolveUpdate,
} from "./run/attention.ts";
export { type AuditEntry, auditQuery } from "./run/audit.ts";
export {
  type BatchOrder,
  type BatchProgress,
  batchProgressQuery,
  cancelBatchUpdate,
  type GivenOrder,
  pauseBatchUpdate,
  resumeBatchUpdate,
} from "./run/batch.ts";
export { intentOf, stepKey } from "./run/keys.ts";
export type { Duration } from "./run/duration.ts";
export type { PollInterval } from "./run/pace.ts";
export type { Sibling, StepInDoubt } from "./run/in-doubt.ts";
export { type Progress, progressQuery, type StepProgress } from "./run/progress.ts";
export { cardholderCheckedSignal, payoutEndedSignal } from "./run/told.ts";
export { beginRun, type Run, type RunOptions } from "./run/run.ts";
export {
  PAYMENT_ACCOUNT,
  PAYMENT_AWAITS,
  PAYMENT_BATCH,
  PAYMENT_CURRENCY,
  PAYMENT_IDS,
  PAYMENT_IN_DOUBT,
  PAYMENT_STAGE,
  searchAttributes,
} from "@durable-payments/activities/search-attributes";
export { type ApprovalOptions, awaitApproval, type ToApprove } from "./steps/approval.ts";
export { awaitFunds, type AwaitFundsOptions, ensureBalance } from "./steps/balance.ts";
export { createBeneficiary, type CreateBeneficiaryOptions } from "./steps/beneficiary.ts";
export {
  cancelCard,
  type CardToIssue,
  confirmCard,
  type IssuedCard,
  issueCard,
} from "./steps/card.ts";
export {
  awaitVerification,
  type AwaitVerificationOptions,
  createCardholder,
  removeCardholder,
} from "./steps/cardholder.ts";
export { checkRequests } from "./steps/check-requests.ts";
export { type Candidate, type Evidence, judge, type Verdict } from "./steps/judge.ts";
export {
  awaitPayout,
  type AwaitedPayout,
  type AwaitPayoutOptions,
  type CreatedPayout,
  createPayout,
} from "./steps/payout.ts";
export { type LookUp, type Sending, sendUntilKnown } from "./steps/send.ts";
export { VERSIONING_BEHAVIOR } from "./versioning.ts";
export {
  onboardCardholder,
  type OnboardCardholderInput,
  type OnboardCardholderOptions,
  type OnboardCardholderResult,
} from "./definitions/onboard-cardholder.ts";
export { tracker } from "./definitions/tracker.ts";
export {
  payout,
  type PayoutInput,
  type PayoutOptions,
  type PayoutResult,
} from "./definitions/payout.ts";
export {
  type BatchPosition,
  type OverruledBatch,
  payoutBatch,
  type PayoutBatchInput,
  type PayoutBatchResult,
} from "./definitions/payout-batch.ts";
export { payoutPage } from "./definitions/payout-page.ts";
export type { BatchRow } from "@durable-payments/activities";
