export type { Failure } from "./failure.ts";
export { unsettledSteps } from "./in-doubt.ts";
