export type { Failure } from "../history/failure.ts";
export { readTimeline } from "./read-timeline.ts";
export type {
  NextStep,
  Reset,
  Timeline,
  TimelineActivity,
  TimelineEvent,
  TimelineHumanTask,
  TimelineMessage,
  TimelineStep,
  TimelineTimer,
  TimelineUndoFailed,
} from "./timeline.ts";
