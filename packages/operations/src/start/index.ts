export { type AmendedRun, startRun, type StartOptions, type SubmittedRun } from "./start-run.ts";
export type { ForgottenRun, ForgottenRunSend } from "./forgotten.ts";
