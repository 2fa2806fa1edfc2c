export { brake } from "./brake.ts";
export { onboardCardholder } from "./onboard-cardholder.ts";
export { payout } from "./payout.ts";
