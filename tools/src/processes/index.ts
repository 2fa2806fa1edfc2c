export { appArguments, checkout } from "./apps.ts";
export { awaitReadyLine, describeExit, lastLines } from "./await-ready.ts";
export { type ProcessOptions, spawnProcess, type StartedProcess } from "./spawn-process.ts";
