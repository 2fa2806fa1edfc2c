// The drill of a restore: docs/restore.md is followed literally, block by block, on real servers. A payout that the copy
// of the ledger does not know is not made again, and its run continues.
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { appArguments, awaitReadyLine } from "../../src/processes.ts";
import { type Drill, startDrill } from "../support/drill.ts";

const TIMEOUT_MS = 300_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });

let drill: Drill;
let end: () => Promise<void>;

beforeAll(async () => {
  ({ drill, end } = await startDrill("docs/restore.md"));
});

afterAll(async () => {
  await end();
});

it("a ledger is restored by the page: a payout that its copy has forgotten is not made again", async () => {
  const { stack } = drill;
  const ledger = stack.variables.PAYMENTS_LEDGER.replace("sqlite:", "");
  const copy = join(stack.logFolder, "copy.sqlite");
  const [backup = ""] = drill.block("Back up", 0).commands;
  await drill.succeed(backup.replace(/\S+\.sqlite$/, copy));

  const payoutId = await drill.payAndHold("drill-forgotten");
  const before = await drill.countPayouts();

  const pause = drill.block("Restore", 0);
  await drill.follow(pause);
  await stack.parts.worker.kill();
  for (const part of ["", "-wal", "-shm"]) await rm(`${ledger}${part}`, { force: true });
  await copyFile(copy, ledger);
  // The copy does not contain it.
  await drill.follow(pause);
  // What it counts differs from the page, whose ledger has lost nothing.
  for (const line of drill.block("Restore", 1).commands) {
    expect(await drill.succeed(line)).toContain("Nothing was changed.");
  }
  await drill.follow(drill.block("Restore", 2));
  await awaitReadyLine(stack.spawn("worker", appArguments("worker", ["--json"])));
  await drill.succeed("durable-payments inbox");
  await drill.follow(drill.block("Restore", 3));

  await drill.setStatus(payoutId, "completed");
  await drill.untilStatus("drill-forgotten", "succeeded");
  expect(await drill.countPayouts()).toBe(before);
  expect(await drill.succeed("durable-payments inbox")).toContain(
    "Nothing is waiting for a person.",
  );
});
