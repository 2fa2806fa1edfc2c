import { beginRun, createPayout } from "@durable-payments/workflows";

/** Creates one payout, in a step of this name. */
export const payInStep = async (beneficiary_id: string, step: string): Promise<void> => {
  const run = beginRun();
  await run.execute(() =>
    createPayout(
      run,
      {
        beneficiary_id,
        amount: "12.50",
        currency: "USD",
        payout_reason: "Payment for goods",
        payment_date: "2026-12-01",
        is_payer: "Y",
      },
      step,
    ),
  );
};
