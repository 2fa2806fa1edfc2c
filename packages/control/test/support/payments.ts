import { createClient } from "@durable-payments/client";
import { defaultAssumptions } from "@durable-payments/client/effect";
import type { Simulator } from "@durable-payments/simulator";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { planPayout } from "../../src/rules/input.ts";
import type { startRealStack } from "./real-stack.ts";

/** A deployment of {@link startRealStack}. */
export type RealStack = Awaited<ReturnType<typeof startRealStack>>;

export const beneficiary = {
  ...inputs.beneficiary,
  account_currency: "USD",
  payment_method: "swift",
} as const;

export const payout = (payout_reference: string) => ({
  ...inputs.payout,
  currency: "USD",
  payout_reference,
});

const payeeAt = async ({ apiKey, clientId, url }: Simulator): Promise<string> => {
  const client = createClient({ baseUrl: url, clientId, apiKey });
  try {
    return (await client.createBeneficiary(beneficiary)).beneficiary_id;
  } finally {
    await client.close();
  }
};

/** What {@link paymentsOn} gives. */
export type Payments = Awaited<ReturnType<typeof paymentsOn>>;

/** Plans payouts from the accounts of a deployment, each to a beneficiary that exists, and counts what was paid. */
export const paymentsOn = async ({ eu, home, operations }: RealStack) => {
  const [known, knownEu] = await Promise.all([payeeAt(home), payeeAt(eu)]);
  return {
    /** The beneficiary of the unnamed account. */
    known,
    planned: (reference: string, account?: "eu") =>
      planPayout(
        {
          ...(account && { account }),
          beneficiary_id: account === undefined ? known : knownEu,
          payout: payout(reference),
        },
        defaultAssumptions,
      ),
    result: (workflowId: string, runId?: string): Promise<unknown> =>
      operations.client.workflow.getHandle(workflowId, runId).result(),
    /** The number of payouts with a reference, by whichever account. */
    paid: async (reference: string): Promise<number> => {
      const states = await Promise.all([home.state(), eu.state()]);
      return states
        .flatMap(({ payouts }) => payouts)
        .filter(({ payout_reference }) => payout_reference === reference).length;
    },
  };
};
