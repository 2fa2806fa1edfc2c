export { type CancelAsked, cancelRun, type EndOptions, terminateRun } from "./end-run.ts";
