export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
export { checkWorker, notifier, runBatch, tracker } from "./worker-workflows.ts";
