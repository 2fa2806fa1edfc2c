export type { Failure } from "./failure.ts";
export { type SettledDoubt, unsettledSteps } from "./in-doubt.ts";
