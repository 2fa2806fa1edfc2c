export { checkWorker } from "./check-worker.ts";
export { notifier } from "./notifier.ts";
export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
export { payoutBatch } from "./payout-batch.ts";
export { tracker } from "./tracker.ts";
