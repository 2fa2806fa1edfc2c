import { beginRun, createPayout } from "../../src/index.ts";
import type { payTwoSuppliers } from "../examples/pay-two-suppliers.ts";

/** Forgets to name its second payout. */
export const payTwiceAlike: typeof payTwoSuppliers = (first, second) => {
  const run = beginRun();
  return run.execute(async () => {
    await createPayout(run, first);
    const { payout_status } = await createPayout(run, second);
    return { first: payout_status, second: payout_status };
  });
};
