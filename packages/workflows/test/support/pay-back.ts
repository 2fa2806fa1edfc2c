import type { Input } from "@durable-payments/api-core";
import { awaitPayout, beginRun, createPayout } from "../../src/index.ts";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Pays, and where it fails or is cancelled, pays another sum in place of it. */
export async function payBack(payment: Payment, inPlaceOfIt: Payment): Promise<void> {
  const run = beginRun();
  return run.execute(async () => {
    run.onFailure({
      what: "pay in place of it",
      how: async () => {
        await createPayout(run, inPlaceOfIt, "payBack");
      },
    });
    await awaitPayout(run, await createPayout(run, payment));
  });
}
