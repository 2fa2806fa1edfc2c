import type { PayoutInput } from "@durable-payments/protocol";
import { beginRun } from "../../src/run/run.ts";
import { createPayout } from "../../src/steps/payout.ts";

/** Creates a payout and does not wait for its completion. */
export function payAndGoOn(input: PayoutInput): Promise<string> {
  const run = beginRun({ input });
  return run.execute(async () => {
    if (!("beneficiary_id" in input)) throw new Error("The payout has no beneficiary_id.");
    const { beneficiary_id, payout } = input;
    return (await createPayout(run, { ...payout, beneficiary_id })).payout_id;
  });
}
