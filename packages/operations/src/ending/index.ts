export { cancelRun, type EndOptions, terminateRun } from "./end-run.ts";
