export * from "./answer.ts";
export * from "./approve.ts";
export * from "./record.ts";
