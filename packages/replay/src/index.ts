export { bundleForReplay, CannotBundle } from "./bundle.ts";
export type { Difference } from "./difference.ts";
export { differenceText, type DifferenceText } from "./difference-text.ts";
export { type History, InvalidHistory } from "./history.ts";
export { writeHistory } from "./history-json.ts";
export type { Recorded } from "./record.ts";
export { type DifferenceKind, type Replay, replayHistories } from "./replay.ts";
export { readRun, type RunToReplay, WrongWorkflowId } from "./run.ts";
export type { Frame } from "./stack.ts";
