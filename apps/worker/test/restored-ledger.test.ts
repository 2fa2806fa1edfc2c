import { readTracked } from "@durable-payments/activities";
import { openLedger } from "@durable-payments/ledger";
import { listedRuns, trackersOn } from "@durable-payments/protocol";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeRig } from "./support/rig.ts";

const { client, folder, seal, simulator, startPayout, startWorker } = await makeRig();

const file = join(folder.path, "ledger.sqlite");
const PAYMENTS_LEDGER = `sqlite:${file}` as const;
const payouts = async () => (await simulator.state()).payouts.length;
const openFile = async () => {
  const ledger = await openLedger(PAYMENTS_LEDGER, { seal });
  onTestFinished(() => ledger.close());
  return ledger;
};

const removeFile = () => {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
};

/** The latest entry of the ledger that a tracker has reported to Temporal. */
const witnessed = async () => {
  let latest = 0;
  for await (const { execution } of listedRuns(client, trackersOn("payments"))) {
    const { mark } = (await readTracked(client, execution?.workflowId ?? "")) ?? {};
    latest = Math.max(latest, mark?.sequence ?? 0);
  }
  return latest;
};

it("a ledger that was restored to a copy a few seconds old is noticed before anything is sent", async () => {
  const killed = await startWorker({ PAYMENTS_LEDGER });
  await startPayout("before-the-copy");
  await vi.waitFor(async () => expect(await payouts()).toBe(1), { timeout: 60_000, interval: 50 });
  const copy = join(folder.path, "copy.sqlite");
  await (await openFile()).backup(copy);

  await startPayout("after-the-copy");
  await vi.waitFor(async () => expect(await payouts()).toBe(2), { timeout: 60_000, interval: 50 });
  const { sequence } = await (await openFile()).mark();
  await vi.waitFor(async () => expect(await witnessed()).toBeGreaterThanOrEqual(sequence), {
    timeout: 60_000,
    interval: 50,
  });
  await killed.kill("SIGKILL");
  removeFile();
  copyFileSync(copy, file);

  const restored = await startWorker({ PAYMENTS_LEDGER });
  await startPayout("after-the-restore");
  const ledger = await openFile();
  expect((await ledger.state()).stopped).toMatch(/^The ledger was restored: it ends at/);
  const isHeld = async () =>
    expect(await ledger.rowsOf("after-the-restore")).toMatchObject([{ state: "ready", sends: 0 }]);
  await vi.waitFor(isHeld, { timeout: 60_000, interval: 100 });
  expect(await payouts()).toBe(2);

  // A ledger that begins anew because its file is gone sends nothing, either.
  await restored.kill("SIGKILL");
  removeFile();
  await startWorker({ PAYMENTS_LEDGER });
  expect((await (await openFile()).state()).stopped).toMatch(
    /it is not the ledger that was in use/,
  );
});
