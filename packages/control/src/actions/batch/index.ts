export * from "./batch.ts";
export * from "./check-rows.ts";
export * from "./pay-file.ts";
export { isAmendmentsFile, readAmendments } from "../../facts/read-amendments.ts";
export { type RowFault, textOf } from "../../facts/read-file.ts";
