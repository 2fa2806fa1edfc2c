// For the packages of this project alone: no part of what users can rely on.
export { paymentsPluginIn } from "./payments-plugin.ts";
export { showTemporalExpiry } from "./metrics/looks.ts";
