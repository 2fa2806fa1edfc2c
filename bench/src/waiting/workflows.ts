import type { PayoutInput } from "@durable-payments/protocol";
import { beginRun, createPayout } from "@durable-payments/workflows";

export * from "@durable-payments/workflows/definitions";

/** A payout to a beneficiary that exists, as the `payout` workflow creates it, and no wait. */
export async function payoutWithoutWaiting(
  input: Extract<PayoutInput, { readonly beneficiary_id: string }>,
): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    const request = { ...input.payout, beneficiary_id: input.beneficiary_id };
    const { payout_id } = await createPayout(run, request);
    return payout_id;
  });
}
