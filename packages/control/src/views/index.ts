export * from "./batch.ts";
export * from "./inbox.ts";
export * from "./list.ts";
export * from "./overview.ts";
export * from "./result-file.ts";
export * from "./run.ts";
export * from "../rules/decision-text.ts";
export * from "../rules/run-view.ts";
