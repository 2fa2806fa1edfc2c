import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig, settingsFile } from "./support/rig.ts";

const { folder, simulator, startPayout, startWorker } = await makeRig({ settleAfter: 0 });

const SETTINGS = {
  PAYMENTS_LEDGER: `sqlite:${join(folder.path, "ledger.sqlite")}`,
  ...settingsFile(folder.path, { assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 } }),
};
const WITHIN = { timeout: 60_000, interval: 50 };

const payouts = async () => (await simulator.state()).payouts.length;

it("a worker that stood still for a minute between its look and its dispatch pays nothing that another one has paid", async () => {
  const first = await startWorker(SETTINGS);
  await (await startPayout("before")).result();
  const beneficiary_id = (await simulator.state()).beneficiaries[0]?.beneficiary_id ?? "";
  expect(await first.kill("SIGTERM")).toMatchObject({ code: 0 });

  // What is to be sent is known; its sign-in takes a while.
  const frozen = await startWorker(SETTINGS);
  await simulator.addFault({ kind: "slow", operation: "signIn", milliseconds: 3_000 });
  const handle = await startPayout("taken-over", { beneficiary_id, payout: payoutInput.payout });
  const isSigningIn = async () => expect(await simulator.faults()).toMatchObject([{ fired: 1 }]);
  await vi.waitFor(isSigningIn, WITHIN);
  frozen.send("SIGSTOP");
  const frozenAt = Date.now();

  await startWorker(SETTINGS);
  await handle.result();
  expect(await payouts()).toBe(2);
  await sleep(Math.max(0, frozenAt + 60_000 - Date.now()));
  frozen.send("SIGCONT");
  // Longer than a request, and its repeats, may take.
  await sleep(15_000);
  expect(await payouts()).toBe(2);
}, 180_000);
