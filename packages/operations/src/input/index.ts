export { readAssumptions } from "./check-run-file.ts";
export { planOnboarding } from "./onboarding.ts";
export { planPayout } from "./payout.ts";
export { checkId, type PlannedRun } from "./planned-run.ts";
