export { checkBatchFile, type CheckedFile, isBatchFile } from "./check-rows.ts";
export { approveBatch, cancelBatch, rejectBatch } from "./decide-batch.ts";
export { compareFunds, type Funds } from "./pay-file.ts";
export {
  checkPayOptions,
  type FilePlan,
  payFile,
  type PayFileOptions,
  planFile,
  warningsOf,
} from "./pay-file.ts";
export { checkResultFile, csvText, writeResultFile } from "./result-file.ts";
