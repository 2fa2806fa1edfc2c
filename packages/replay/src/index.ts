export { bundleForReplay } from "./bundle.ts";
export type { Difference } from "./difference.ts";
export { type History, InvalidHistory, readHistory } from "./history.ts";
export { writeHistory } from "./history-json.ts";
export type { Recorded } from "./record.ts";
export { type Replay, replayHistories, type RunToReplay } from "./replay.ts";
export type { Frame } from "./stack.ts";
