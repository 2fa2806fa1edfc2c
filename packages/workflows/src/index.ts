export * from "./failures.ts";
export { voucherFor } from "./run.ts";
export * from "./steps/operations.ts";
export * from "./steps/waits.ts";
export { type Fields, type StepOptions, undo } from "./steps/write.ts";
export { onboardCardholder } from "./definitions/onboard-cardholder.ts";
export { payout } from "./definitions/payout.ts";
export { checkWorker, notifier, tracker } from "./definitions/worker-workflows.ts";
export type { FailureFacts } from "@durable-payments/protocol/calls";
export type {
  CheckWorkerInput,
  Duration,
  OnboardCardholderInput,
  OnboardCardholderOptions,
  OnboardCardholderResult,
  PayoutInput,
  PayoutOptions,
  PayoutResult,
} from "@durable-payments/protocol";
export type { SeenCardholder, SeenFunds, SeenPayout } from "@durable-payments/protocol/calls";
