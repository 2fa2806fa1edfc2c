import type { PayoutBatchInput } from "@durable-payments/protocol";
import { makeContinueAsNewFunc, proxyActivities } from "@temporalio/workflow";
import type { payoutBatch } from "../../src/index.ts";

/** Runs on a worker of somebody else: goes on as a batch of the workers of this queue. */
export const continueAsBatch = (taskQueue: string, input: PayoutBatchInput): Promise<never> =>
  makeContinueAsNewFunc<typeof payoutBatch>({ taskQueue, workflowType: "payoutBatch" })(input);

/** Runs on a worker of somebody else: schedules an activity of the workers of this queue. */
export const schedule = async (
  taskQueue: string,
  activity: string,
  ...input: ReadonlyArray<unknown>
): Promise<unknown> => {
  const activities = proxyActivities({
    taskQueue,
    startToCloseTimeout: "1 minute",
    heartbeatTimeout: "20 seconds",
    retry: { maximumAttempts: 1 },
  });
  return await activities[activity]!(...input);
};
