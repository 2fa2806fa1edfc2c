import { beginRun, createPayout } from "../../src/index.ts";
import type { payTwoAtOnce } from "./pay-two-at-once.ts";

/** Creates two payouts side by side. */
export const createTwoAtOnce: typeof payTwoAtOnce = (first, second) => {
  const run = beginRun();
  return run.conduct(async () => {
    const made = await Promise.all([
      createPayout(run, first, "payTheFirst"),
      createPayout(run, second, "payTheSecond"),
    ]);
    return made.map(({ payout_id }) => payout_id);
  });
};
