export { bundleForReplay, CannotBundle } from "./bundle.ts";
export type { History, RunToReplay } from "./history.ts";
export {
  type DifferenceKind,
  describeDifference,
  type Frame,
  type Replay,
  replayHistories,
} from "./replay.ts";
