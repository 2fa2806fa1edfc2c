export { checkWorker } from "./check-worker.ts";
export { pauseSends } from "./pause-sends.ts";
export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
export { notifier } from "./notifier.ts";
export { tracker } from "./tracker.ts";
export { payoutBatch } from "./payout-batch.ts";
export { payoutBatchChunk } from "./payout-batch-chunk.ts";
