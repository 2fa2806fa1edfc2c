export { planOnboarding } from "./onboarding.ts";
export { planPayout } from "./payout.ts";
export { checkId, type PlannedRun, readAssumptions } from "./planned-run.ts";
