export * from "./batch.ts";
export * from "./check-rows.ts";
export * from "./pay-file.ts";
export { textOf } from "../../facts/read-file.ts";
