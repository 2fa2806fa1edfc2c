export type { Candidate } from "./candidates.ts";
export type { DoubtedStep } from "./doubted-step.ts";
export type { Failure } from "./failure.ts";
export { type SettledDoubt, unsettledSteps } from "./in-doubt.ts";
export type { CancelRequest } from "./cancel-request.ts";
