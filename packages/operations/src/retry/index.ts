export { planRetryOf, retryPayment, type Retried, type RetryOptions } from "./retry.ts";
export { type ManyFilter, type OneOfMany, planMany, retryMany } from "./retry.ts";
export type { RetryPlan } from "./plan.ts";
