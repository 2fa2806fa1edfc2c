export { intentOf } from "@durable-payments/protocol";
export { stepKey } from "./steps/step-keys.ts";
export type { Sibling, StepInDoubt } from "./run/in-doubt.ts";
export { beginRun, type Run, type RunOptions } from "./run/run.ts";
export { awaitApproval, type ToApprove } from "./steps/approval.ts";
export { awaitFunds, type AwaitFundsOptions, ensureBalance } from "./steps/balance.ts";
export { createBeneficiary, type CreateBeneficiaryOptions } from "./steps/beneficiary.ts";
export {
  cancelCard,
  type CardToIssue,
  confirmCard,
  type IssuedCard,
  issueCard,
} from "./steps/card.ts";
export { awaitVerification, createCardholder, removeCardholder } from "./steps/cardholder.ts";
export { checkInput } from "./steps/check-input.ts";
export { checkRequests } from "./steps/check-requests.ts";
export {
  type Candidate,
  type Evidence,
  decideOutcome,
  type Reconciliation,
} from "./steps/decide-outcome.ts";
export {
  awaitPayout,
  type AwaitedPayout,
  type CreatedPayout,
  createPayout,
} from "./steps/payout.ts";
export {
  defineOperation,
  type OperationDefinition,
  type OwnStep,
  type SendOptions,
} from "./steps/own-operation.ts";
export { type ChildOptions, runChild } from "./steps/run-child.ts";
export { sendAndReconcile } from "./steps/send.ts";
export type { Reconciler, Write } from "./steps/write.ts";
export { VERSIONING_BEHAVIOR } from "./versioning.ts";
export { onboardCardholder } from "./definitions/onboard-cardholder.ts";
export { checkWorker, type CheckWorkerInput } from "./definitions/check-worker.ts";
export { notifier } from "./definitions/notifier.ts";
export { tracker } from "./definitions/tracker.ts";
export { payout } from "./definitions/payout.ts";
export { payoutBatch } from "./definitions/payout-batch.ts";
export { payoutBatchChunk } from "./definitions/payout-batch-chunk.ts";
export type {
  ApprovalOptions,
  Duration,
  OnboardCardholderInput,
  OnboardCardholderOptions,
  OnboardCardholderResult,
  PayoutBatchInput,
  PayoutBatchResult,
  PayoutInput,
  PayoutOptions,
  PayoutResult,
  PollInterval,
  Progress,
} from "@durable-payments/protocol";
export type { AwaitCompletionOptions } from "./steps/await-completion.ts";
