export * from "@durable-payments/workflows/definitions";
export { payTwice } from "./pay-twice.ts";
