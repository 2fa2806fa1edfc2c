export { checkBatchFile, type CheckedFile, chunksAgain } from "./check-file.ts";
export { compareFunds, type Funds } from "./funds.ts";
export {
  findRows,
  type FoundRows,
  importBatch,
  type Imported,
  type ImportObserver,
  type ImportOptions,
  rowsOfFile,
} from "./import.ts";
export { type ListedBatch, listBatches } from "./list.ts";
export { rejectionText } from "./rejections.ts";
export {
  type BatchReport,
  isEachPaid,
  reportBatch,
  rowsOfBatch,
  type RunCounts,
  unpaid,
} from "./report.ts";
export { checkResultFile, type ResultFileOptions, writeResultFile } from "./result-file.ts";
export type { RowOutcome } from "./row-outcome.ts";
export type { SentTotals } from "./sent-totals.ts";
export { approvalText, type StartedAs } from "./start.ts";
export { totalsText } from "../totals.ts";
export { awaitBatch, type BatchUpdate, countedRows, withRows } from "./wait.ts";
