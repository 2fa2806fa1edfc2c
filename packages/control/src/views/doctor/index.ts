export type { Check } from "./check.ts";
export * from "./doctor.ts";
