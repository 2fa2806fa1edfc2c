import type { Input } from "@durable-payments/api-core";
import { awaitPayout, beginRun, createPayout } from "../../src/index.ts";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Creates two payouts, and awaits them side by side. */
export async function payTwoAtOnce(first: Payment, second: Payment): Promise<Array<string>> {
  const run = beginRun();
  return run.execute(async () => {
    const one = await createPayout(run, first, "payTheFirst");
    const two = await createPayout(run, second, "payTheSecond");
    const paid = await Promise.all([awaitPayout(run, one), awaitPayout(run, two)]);
    return paid.map(({ payout_status }) => payout_status ?? "");
  });
}
