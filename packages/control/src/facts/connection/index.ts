export * from "./connections.ts";
export * from "./temporal.ts";
