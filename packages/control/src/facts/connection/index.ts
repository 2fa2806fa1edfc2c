export * from "./operations.ts";
export * from "./temporal.ts";
