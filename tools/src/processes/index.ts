export { type App, appArguments, checkout } from "./apps.ts";
export {
  awaitReadyLine,
  describeExit,
  lastLines,
  ProcessNotReady,
  type ReadyLine,
} from "./await-ready.ts";
export {
  type Exit,
  type ProcessOptions,
  spawnProcess,
  type StartedProcess,
} from "./spawn-process.ts";
