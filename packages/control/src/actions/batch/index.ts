export * from "./batch.ts";
export * from "./check-rows.ts";
export * from "./pay-file.ts";
export { readAmendments } from "../../facts/read-amendments.ts";
export { isBatchFile, type RowFault, textOf } from "../../facts/read-file.ts";
