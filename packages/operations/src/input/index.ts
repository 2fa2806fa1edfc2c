export { planOnboarding, planPayout } from "./inputs.ts";
export { checkId, type PlannedRun, readAssumptions } from "./planned-run.ts";
