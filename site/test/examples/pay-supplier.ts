import type { Input } from "@durable-payments/api-core";
import { awaitFunds, awaitPayout, beginRun, createPayout } from "@durable-payments/workflows";

export async function paySupplier(payment: Omit<Input<"createPayout">, "unique_request_id">) {
  const run = beginRun();
  return run.execute(async () => {
    await awaitFunds(run, payment);
    const payout = await createPayout(run, payment);
    const paid = await awaitPayout(run, payout, { within: "5 days" });
    return paid.payout_status;
  });
}
