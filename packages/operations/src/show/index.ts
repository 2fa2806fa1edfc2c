export { type Inbox, itemsOf, readInbox } from "./inbox.ts";
export {
  type BatchDetails,
  type BatchView,
  findBatch,
  listBatches,
  listRuns,
  readStatuses,
  type RunList,
  type RunListFilter,
} from "./list.ts";
export { readLog } from "./log.ts";
export { type OverviewView, readOverview, type WaitingFor } from "./overview.ts";
export { followRun, readRun } from "./run.ts";
export type * from "./run-view.ts";
export { type Money, sumMoney } from "./sums.ts";
