export {
  type CancelAsked,
  cancelRun,
  type EndOptions,
  type TerminatedRun,
  terminateRun,
} from "./end-run.ts";
