import { accountQueue } from "@durable-payments/protocol/calls";
import { type ActivityOptions, proxyActivities, workflowInfo } from "@temporalio/workflow";

/** Returns an activity of an account. Its argument and its result are those of its type. */
export const activity = <Result>(
  type: string,
  account: string | undefined,
  options: ActivityOptions,
) =>
  // The proxy has a function for each name.
  proxyActivities<Record<string, (input: object) => Promise<Result>>>({
    taskQueue: accountQueue(workflowInfo().taskQueue, account),
    ...options,
  })[type] as (input: object) => Promise<Result>;
