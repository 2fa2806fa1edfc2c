import type { Input } from "@durable-payments/api-core";
import { ApplicationFailure } from "@temporalio/common";
import { condition, defineSignal, setHandler, sleep } from "@temporalio/workflow";
import { beginRun, createPayout } from "../../src/index.ts";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** What goes on beside a payout until it ends. */
export interface Beside {
  readonly payment: Payment;
  readonly ends: "fail" | "return";
}

/** Waits for a payout no longer than a short time. */
export async function payOrGiveUp({ ends, payment }: Beside): Promise<string> {
  const run = beginRun();
  return run.execute(async () => {
    const giveUp = async (): Promise<string> => {
      await sleep("100 ms");
      if (ends === "fail") throw ApplicationFailure.nonRetryable("given up", "GivenUp");
      return "timeout";
    };
    return await Promise.race([createPayout(run, payment).then(() => "paid"), giveUp()]);
  });
}

export const paySignal = defineSignal<[step: string]>("pay");

/** Pays on each signal. */
export async function payOnSignal(payment: Payment): Promise<void> {
  const run = beginRun();
  setHandler(paySignal, async (step) => {
    await createPayout(run, payment, step);
  });
  return run.execute(() => condition(() => false));
}
