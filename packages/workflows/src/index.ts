export {
  AlreadyCarriedOut,
  CannotBeUndone,
  Ended,
  factsOf,
  InvalidRequest,
  MadeTwice,
  NotFunded,
  NotVerified,
  OverLimit,
  PaymentFailure,
  PayoutDiffers,
  PayoutFailed,
  PayoutStillOpen,
  Refused,
  Rejected,
} from "./run/failures.ts";
export { voucherFor } from "./run/identity.ts";
export {
  type BeneficiaryOptions,
  cancelCard,
  checkRequests,
  confirmCard,
  createBeneficiary,
  createCardholder,
  type CreatedPayout,
  createPayout,
  freezeCard,
  issueCard,
  type IssuedCard,
  type MoneyOptions,
  ownOperation,
  removeCardholder,
  updateBeneficiary,
  updateCard,
  withdrawFromCard,
} from "./steps/operations.ts";
export {
  awaitFunds,
  awaitPayout,
  awaitVerification,
  ensureBalance,
  type WaitOptions,
} from "./steps/waits.ts";
export { type Fields, type StepOptions, undo } from "./steps/write.ts";
export { VERSIONING_BEHAVIOR } from "./versioning.ts";
export { checkWorker, type CheckWorkerInput } from "./definitions/check-worker.ts";
export { notifier } from "./definitions/notifier.ts";
export { onboardCardholder } from "./definitions/onboard-cardholder.ts";
export { payout } from "./definitions/payout.ts";
export { tracker } from "./definitions/tracker.ts";
export type { FailureFacts } from "@durable-payments/protocol/calls";
export type {
  Duration,
  OnboardCardholderInput,
  OnboardCardholderOptions,
  OnboardCardholderResult,
  PayoutInput,
  PayoutOptions,
  PayoutResult,
} from "@durable-payments/protocol";
export type { SeenCardholder, SeenFunds, SeenPayout } from "@durable-payments/protocol/waits";
