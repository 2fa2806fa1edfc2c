import { beginRun, createPayout } from "@durable-payments/workflows";
import { sleep } from "@temporalio/workflow";

/** Ends without `run.execute`, so that it does not wait for what it is sending. */
export async function raced(payment: Parameters<typeof createPayout>[1]): Promise<string> {
  const run = beginRun();
  const paid = createPayout(run, payment, "racing").then(({ payout_id }) => payout_id);
  return Promise.race([paid, sleep("2 seconds").then(() => "too late")]);
}
