export { type BatchDetails, type BatchView, findBatch, listBatches } from "./batch.ts";
export { approvalsOf, type Inbox, itemsOf, readInbox } from "./inbox.ts";
export { listRuns, readStatuses, type RunList, type RunListFilter } from "./list.ts";
export { type OverviewView, readOverview, type WaitingFor } from "./overview.ts";
export { followRun, readLog, readRun, type RunDetails, type RunLog } from "./run.ts";
export { decisionText } from "../rules/decision-text.ts";
export * from "../rules/run-view.ts";
export { checkResultFile, csvText, writeResultFile } from "./result-file.ts";
