export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
export { checkWorker, notifier, payoutBatch, tracker } from "./worker-workflows.ts";
