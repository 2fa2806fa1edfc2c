import type { Input } from "@durable-payments/client/effect";
import { awaitFunds, awaitPayout, createPayout } from "durable-payments/workflows";

export async function paySupplier(payment: Omit<Input<"createPayout">, "unique_request_id">) {
  await awaitFunds(payment);
  const payout = await createPayout(payment);
  const paid = await awaitPayout(payout, { within: "5 days" });
  return paid.payout_status;
}
