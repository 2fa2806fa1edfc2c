import { createPayout } from "@durable-payments/workflows";
import { ApplicationFailure, proxyActivities } from "@temporalio/workflow";

export * from "@durable-payments/workflows/definitions";

const { reserve } = proxyActivities<{ reserve: () => Promise<void> }>({
  startToCloseTimeout: "1 minute",
});

/** A user's own workflow: an activity, a payout, and words of its own about a failure. */
export const payReserved = async (request: Parameters<typeof createPayout>[0]): Promise<void> => {
  await reserve();
  try {
    await createPayout(request);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw ApplicationFailure.create({ message: "The goods stay reserved.", cause });
  }
};
