export { bundleForReplay, CannotBundle } from "./bundle.ts";
export type { History, RunToReplay } from "./history.ts";
export {
  type DifferenceKind,
  describeDifference,
  type Frame,
  linesOf,
  type Replay,
  replayHistories,
} from "./replay.ts";
