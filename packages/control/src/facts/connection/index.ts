export * from "./connections.ts";
export * from "./open-connections.ts";
export * from "./temporal.ts";
