import { openLedger } from "@durable-payments/ledger";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pause } from "../../src/actions/stopping.ts";
import { noBatch, noRun, retryOf } from "../../src/facts/named.ts";
import { batchOfId } from "../../src/views/batch.ts";
import { filterOf } from "../../src/views/list.ts";
import { readLog, readRun } from "../../src/views/run.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

const ledger = await openLedger("memory");
const sources = { ledger, temporal: undefined, whyNot: [] };
afterAll(() => ledger.close());

const saveBatch = (id: string, type: string) =>
  ledger.saveBatch(id, () => ({
    batch: {
      id,
      account: ACCOUNT,
      type,
      file: "salaries.csv",
      contentHash: "c",
      rows: 2,
      state: "approved",
      createdBy: "ada",
      createdAt: 0,
      approvedBy: null,
      details: "{}",
      chunks: 1,
    },
  }));

beforeAll(async () => {
  await put(ledger, row({ workflowId: "payout/inv-50" }));
  const keyed = row({ workflowId: "payout/salary-1", ownerId: "payroll-1" });
  await ledger.transact(keyed, () => ({ row: keyed, entries: [] }));
  await saveBatch("payouts/1", "payout");
  await saveBatch("repairs/1", "repair");
});

const show = (workflowId: string) => ({ action: "show", workflowId });

it.each([
  ["payouts/1", "payouts/1 is a file, not a run.", show("payouts/1")],
  ["repairs/1", "repairs/1 is a repair, not a run.", show("repairs/1")],
  ["inv-50", "inv-50 is the key of the run payout/inv-50.", show("payout/inv-50")],
  ["nobody", "There is no run of nobody.", { action: "list" }],
])("says what %s names, of which there is no run", async (id, message, next) => {
  await expect(readRun(sources, id)).rejects.toMatchObject({ message, next });
});

it("names the retry of a file and of a repair instead of that of a run", async () => {
  expect(
    await noRun(ledger, "payouts/1", { nothing: "Nothing was done.", ofBatch: retryOf }),
  ).toMatchObject({
    message: "payouts/1 is a file, not a run. Nothing was done.",
    next: { action: "retryAll", batch: "payouts/1" },
  });
  expect(await noRun(ledger, "repairs/1", { ofBatch: retryOf })).toMatchObject({
    next: { action: "retryAll", repair: "repairs/1" },
  });
});

it("says of every command that there is no such run, and which id is meant", async () => {
  const refused = /^inv-50 is the key of the run payout\/inv-50\./;
  await expect(pause({ ledger }, "inv-50", { by: "ada", reason: "r" })).rejects.toThrow(refused);
  await expect(readLog(ledger, "inv-50")).rejects.toThrow(refused);
});

it("says that a run is not a batch, and a file not a repair", async () => {
  const message = "payout/inv-50 is a run, not a batch.";
  const next = show("payout/inv-50");
  await expect(batchOfId(ledger, "payout/inv-50")).rejects.toMatchObject({ message, next });
  expect(await noBatch(ledger, "nobody")).toMatchObject({ message: "There is no batch nobody." });
  await expect(filterOf(ledger, { repair: "payouts/1" })).rejects.toThrow(
    "payouts/1 is a file, not a repair. Nothing was done.",
  );
});

it("offers a log only if there is one", async () => {
  const offer = expect.objectContaining({ isLog: true });
  expect((await readRun(sources, "payout/inv-50")).next).toContainEqual(offer);
  await expect(readLog(ledger, "payroll-1")).rejects.toThrow(
    "The ledger has no log for payroll-1:",
  );
});

it("does not say that Temporal has lost a row which its file has not started", async () => {
  const { operations } = operationsOn(ledger);
  const { request } = row();
  const rowOf = { ...request, account: ACCOUNT, runId: null, type: "payout", batchRow: 1 };
  const start = { by: "ada", how: "--by", value: { type: "payout", content: "c" } };
  for (const [workflowId, batch, note] of [
    ["row-1", "payouts/1", "Its file has not started it."],
    ["run-1", null, expect.stringContaining("Temporal has no run with this id")],
  ] as const) {
    await ledger.recordStart({ ...rowOf, workflowId, batch }, start);
    const { notes } = await readRun({ ledger, temporal: operations, whyNot: [] }, workflowId);
    expect(notes).toEqual([note]);
  }
});
