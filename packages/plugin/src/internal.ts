// For the packages of this project alone, not for users.
export { errorText, loggingOf, logLine } from "./logger.ts";
export { showTemporalExpiry } from "./metrics.ts";
export { paymentsPluginIn } from "./payments-plugin.ts";
export { orCannotStart } from "./settings.ts";
