export { startRun, type SubmittedRun } from "./start-run.ts";
