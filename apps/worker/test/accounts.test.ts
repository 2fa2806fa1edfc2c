import { expect, it } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const { eu, simulator, startPayout, startWorker } = await makeRig();

it("two workers pay from both accounts, and each payout is noticed when it settles", async () => {
  await Promise.all([startWorker(), startWorker()]);
  const handles = await Promise.all([
    startPayout("of-home"),
    startPayout("of-eu", { ...payoutInput, account: "eu" }),
  ]);
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ payout_id: expect.any(String) });
  }
  for (const { state } of [simulator, eu]) expect((await state()).payouts).toHaveLength(1);
}, 120_000);
