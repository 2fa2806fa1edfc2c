export { type BatchDetails, type BatchView, findBatch, listBatches } from "./list.ts";
export { type Inbox, readInbox } from "./inbox.ts";
export { listRuns, readStatuses, type RunList, type RunListFilter } from "./list.ts";
export { readLog } from "./log.ts";
export { type OverviewView, readOverview, type WaitingFor } from "./overview.ts";
export { followRun, readRun } from "./run.ts";
export { type Money, sumMoney } from "./sums.ts";
export type {
  ChoiceView,
  InboxItem,
  LogLineView,
  PaymentView,
  RunDetails,
  RunLog,
  RunState,
  RunView,
  StepView,
} from "./run-view.ts";
export { type Status, STATUSES } from "./run-view.ts";
