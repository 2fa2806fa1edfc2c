export { planRetryOf, retryPayment, type Retried, type RetryOptions } from "./retry.ts";
export { type ManyFilter, type OneOfMany, planMany, retryMany } from "./retry-many.ts";
export { planRetry, type Planning, type RetryPlan, whyNot } from "./plan.ts";
export { resetPoint } from "./reset-run.ts";
