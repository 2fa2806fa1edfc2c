import { openLedger } from "@durable-payments/ledger";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeRig } from "./support/rig.ts";

const { folder, seal, simulator, startPayout, startWorker } = await makeRig();

const file = join(folder.path, "ledger.sqlite");
const PAYMENTS_LEDGER = `sqlite:${file}` as const;
const payouts = async () => (await simulator.state()).payouts.length;
const openFile = async () => {
  const ledger = await openLedger(PAYMENTS_LEDGER, { seal });
  onTestFinished(() => ledger.close());
  return ledger;
};

it("a ledger that was restored to a copy a few seconds old is noticed before anything is sent", async () => {
  const killed = await startWorker({ PAYMENTS_LEDGER });
  await startPayout("before-the-copy");
  await vi.waitFor(async () => expect(await payouts()).toBe(1), { timeout: 60_000, interval: 50 });
  const copy = join(folder.path, "copy.sqlite");
  await (await openFile()).backup(copy);

  await startPayout("after-the-copy");
  await vi.waitFor(async () => expect(await payouts()).toBe(2), { timeout: 60_000, interval: 50 });
  // What the witness may be late by.
  await sleep(2_500);
  await killed.kill("SIGKILL");
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  copyFileSync(copy, file);

  await startWorker({ PAYMENTS_LEDGER });
  await startPayout("after-the-restore");
  const ledger = await openFile();
  expect((await ledger.state()).stopped).toMatch(/^The ledger was restored: it ends at/);
  const isHeld = async () =>
    expect(await ledger.rowsOf("after-the-restore")).toMatchObject([{ state: "ready", sends: 0 }]);
  await vi.waitFor(isHeld, { timeout: 60_000, interval: 100 });
  expect(await payouts()).toBe(2);
});
