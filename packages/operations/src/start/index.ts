export { startRun, type SubmittedRun } from "./start-run.ts";
export { findForgottenRun, type ForgottenRun, type ForgottenRunSend } from "./forgotten.ts";
