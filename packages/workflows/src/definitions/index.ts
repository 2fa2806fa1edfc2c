export { brake } from "./brake.ts";
export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
export { tracker } from "./tracker.ts";
export { payoutBatch } from "./payout-batch.ts";
export { payoutPage } from "./payout-page.ts";
