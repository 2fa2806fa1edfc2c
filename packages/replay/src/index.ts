export { bundleForReplay, CannotBundle } from "./bundle.ts";
export type { Difference, Frame } from "./difference.ts";
export { type History, InvalidHistory, readRun, type RunToReplay } from "./history.ts";
export type { Recorded } from "./record.ts";
export { type DifferenceKind, describeDifference, type Replay, replayHistories } from "./replay.ts";
