export type { Failure } from "../history/failure.ts";
export { type ExportedHistory, exportHistory } from "./export.ts";
export { groupRuns, type RunGroup, totalsOf } from "./group.ts";
export { listRuns } from "./list.ts";
export type { BatchContent } from "./batch-content.ts";
export type { ListedRun } from "./listed-run.ts";
export type { PendingActivity } from "./pending-activities.ts";
export type { RunFilter, Standing } from "./query.ts";
export { type ReportedStep, reportRun, type RunReport, stepStateOf } from "./report.ts";
export {
  type BrokenState,
  isOpen,
  openStateOf,
  type OpenState,
  type StateName,
  type StepState,
} from "./state-name.ts";
export { totalsText } from "../totals.ts";
export { describeRun, type Ending, type RunEnding, type RunState, stateOf } from "./state.ts";
export { type View, webUiViews } from "./views.ts";
export { awaitRun } from "./wait.ts";
export { type RunUpdate, watchRun } from "./watch.ts";
