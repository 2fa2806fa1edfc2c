import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import { createPayout } from "@durable-payments/workflows";
import { continueAsNew, executeChild, proxyActivities, workflowInfo } from "@temporalio/workflow";

export * from "@durable-payments/workflows/definitions";

/** Activities as an attacker calls them: any of the worker's, with anything. */
type Activities = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

const isCall = (input: unknown): input is object =>
  typeof input === "object" && input !== null && "step" in input;

/** Calls an activity of the payments' worker by a workflow of one's own; a write names this run as its own. */
export async function callActivity(name: string, input: unknown): Promise<unknown> {
  const activities = proxyActivities<Activities>({
    taskQueue: "payments",
    startToCloseTimeout: "1 minute",
    heartbeatTimeout: "15 seconds",
    scheduleToCloseTimeout: "20 seconds",
    retry: { initialInterval: "1 second", maximumInterval: "2 seconds" },
  });
  const { runId } = workflowInfo();
  return activities[name]?.(isCall(input) ? { runId, ...input } : input);
}

/** Pays by a child, which belongs to the tree of this workflow id. */
export const payByChild = (workflowId: string, input: PayoutInput): Promise<unknown> =>
  executeChild<Workflows["payout"]>("payout", {
    workflowId,
    taskQueue: "payments",
    args: [input],
  });

/** A user's own workflow, which pays after as many continued runs as its input says. */
export async function paySalary(
  request: Parameters<typeof createPayout>[0],
  key: string,
  rounds = 0,
): Promise<unknown> {
  if (rounds > 0) return continueAsNew<typeof paySalary>(request, key, rounds - 1);
  return createPayout(request, key === "" ? {} : { key });
}

/** Another workflow with the same input. */
export const payBonus = (...args: Parameters<typeof paySalary>): Promise<unknown> =>
  paySalary(...args);
