export { type BatchDecision, decideBatch } from "./batch.ts";
export { checkBatchFile, type CheckedFile, isBatchFile } from "./check-rows.ts";
export {
  checkPayOptions,
  compareFunds,
  type FilePlan,
  type Funds,
  payFile,
  type PayFileOptions,
  planFile,
  warningsOf,
} from "./pay-file.ts";
export { textOf } from "../../facts/read-file.ts";
