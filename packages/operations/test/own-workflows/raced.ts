import { beginRun, createPayout } from "@durable-payments/workflows";
import { continueAsNew, sleep } from "@temporalio/workflow";

type Payment = Parameters<typeof createPayout>[1];

/** Ends without `run.execute`, so that it does not wait for what it is sending. */
export async function raced(payment: Payment): Promise<string> {
  const run = beginRun();
  const paid = createPayout(run, payment, "racing").then(({ payout_id }) => payout_id);
  return Promise.race([paid, sleep("2 seconds").then(() => "too late")]);
}

/** The same, continued as new at once by a run that owes nothing. */
export async function racedOn(payment?: Payment): Promise<string> {
  if (payment === undefined) return "owes nothing";
  await raced(payment);
  return await continueAsNew<typeof racedOn>();
}
