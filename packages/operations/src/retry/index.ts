export type { PlannedStep, RetryOptions, RetryPlan } from "./plan.ts";
export { planRetryOf, type RetriedRun, retryRun } from "./retry.ts";
export {
  awaitRetried,
  findRunsToRetry,
  type RetriedOne,
  retryMany,
  type SeenRun,
  type RetryManyOptions,
  type RetryReport,
} from "./retry-many.ts";
