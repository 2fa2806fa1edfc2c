export * from "./errors.ts";
export * from "./connection/index.ts";
export * from "./show/index.ts";
export * from "./doctor/index.ts";
export * from "./replay/index.ts";
