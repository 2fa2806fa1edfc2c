export * from "./account.ts";
export * from "./calls.ts";
export * from "./inputs.ts";
export * from "./names.ts";
export * from "./notifications.ts";
export * from "./tracker.ts";
export * from "./values.ts";
export * from "./workflows.ts";
