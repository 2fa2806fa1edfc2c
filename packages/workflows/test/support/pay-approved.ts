import { requestsOfPayout } from "@durable-payments/activities/planned-requests";
import type { Input } from "@durable-payments/api-core";
import { awaitApproval, beginRun, createPayout } from "../../src/index.ts";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Payments of the same, and how many of them are approved at first. */
export interface ApprovedPayments {
  readonly payment: Payment;
  readonly approved: number;
  /** Steps, one after the other; those of a list within it at once. */
  readonly steps: ReadonlyArray<ReadonlyArray<string>>;
}

/** Has some payments of the same approved, and makes as many as there are steps. */
export async function payApproved({ approved, payment, steps }: ApprovedPayments): Promise<number> {
  const run = beginRun();
  return run.execute(async () => {
    const { amount, beneficiary_id, currency } = payment;
    await awaitApproval(
      run,
      {},
      {
        amount,
        currency,
        payload: payment,
        shown: { amount },
        requests: Array.from({ length: approved }, () =>
          requestsOfPayout({ beneficiary_id, payout: payment }),
        ).flat(),
      },
    );
    for (const atOnce of steps) {
      await Promise.all(atOnce.map((step) => createPayout(run, payment, step)));
    }
    return steps.flat().length;
  });
}
