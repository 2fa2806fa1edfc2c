export { isOnThisMachine, readTemporalConfiguration } from "./configuration.ts";
export { rereadApiKey, temporalSecondsUntilExpiry } from "./credentials.ts";
export { NOT_TEMPORAL, NOTHING_LISTENS, whyUnreachable } from "./why-unreachable.ts";
