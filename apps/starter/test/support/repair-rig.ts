import type { OnboardCardholderInput, PayoutInput } from "@durable-payments/protocol";
import { makeRig } from "./rig.ts";

/**
 * A rig whose service is quick and rich, for the tests of one file about repair.
 *
 * @param settings added to the worker's environment
 */
export const makeRepairRig = async (settings: Readonly<Record<string, string>> = {}) => {
  const rig = await makeRig(
    { verifyAfter: 0, settleAfter: 0, balances: { USD: "100000.00", EUR: "100000.00" } },
    {
      // What is not listed was not made: reconciliations of these tests need not wait.
      PAYMENTS_ASSUMPTIONS: JSON.stringify({ listLagSeconds: 0 }),
      PAYMENTS_REQUEST_TIMEOUT_MS: "20000",
      ...settings,
    },
  );
  const { workflow } = rig.temporal.client;

  return {
    ...rig,
    start: (
      workflowType: "onboardCardholder" | "payout",
      workflowId: string,
      input: OnboardCardholderInput | PayoutInput,
      startedBy = "Ada",
    ) =>
      workflow.start(workflowType, {
        workflowId,
        taskQueue: "payments",
        args: [input],
        memo: { startedBy },
      }),
    /** Awaits that the latest run of an id ends, and gives the name of its status. */
    ended: async (workflowId: string): Promise<string> => {
      await workflow.result(workflowId).catch(() => undefined);
      return (await workflow.getHandle(workflowId).describe()).status.name;
    },
  };
};
