import type { Input } from "@durable-payments/api-core";
import {
  awaitFunds,
  awaitPayout,
  beginRun,
  checkRequests,
  createPayout,
} from "@durable-payments/workflows";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Pays two suppliers one after the other, each exactly once, and returns what became of both. */
export async function payTwoSuppliers(first: Payment, second: Payment) {
  const run = beginRun();
  return run.execute(async () => {
    // Both inputs are checked before anything is sent.
    await checkRequests(run, [
      { operation: "createPayout", input: first, at: "first" },
      { operation: "createPayout", input: second, at: "second" },
    ]);
    await awaitFunds(run, first);
    // The name of a step becomes part of the key by which its payout is known.
    const one = await createPayout(run, first, "payTheFirst");
    const firstPaid = await awaitPayout(run, one, { within: "5 days" });

    await awaitFunds(run, second);
    const two = await createPayout(run, second, "payTheSecond");
    const secondPaid = await awaitPayout(run, two, { within: "5 days" });

    return { first: firstPaid.payout_status, second: secondPaid.payout_status };
  });
}
