import type { Input } from "@durable-payments/api-core";
import { beginRun, createPayout, type RunOptions } from "../../src/index.ts";

type Payment = Omit<Input<"createPayout">, "unique_request_id">;

/** Creates two payouts side by side. */
export async function createTwoAtOnce(
  first: Payment,
  second: Payment,
  options?: RunOptions,
): Promise<Array<string>> {
  const run = beginRun(options);
  return run.execute(async () => {
    const made = await Promise.all([
      createPayout(run, first, "payTheFirst"),
      createPayout(run, second, "payTheSecond"),
    ]);
    return made.map(({ payout_id }) => payout_id);
  });
}
