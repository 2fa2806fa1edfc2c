export * from "./bundle.ts";
export type { History, RunToReplay } from "./history.ts";
export * from "./replay.ts";
