import { makeTestFolder } from "@durable-payments/tools/testing";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished, vi } from "vitest";
import { type LedgerOptions, openLedger, readLedgerPlace } from "../../src/index.ts";
import { Store } from "../../src/store/store.ts";
import type { Query } from "../../src/store/table.ts";
import { BATCH_ROWS, RUNS, WAITS, WRITES } from "../../src/store/schema.ts";
import { ADA, batchOf, made, nameOf, runOf, saving, startOf } from "../support/rows.ts";

/** A ledger in a file, whose tables are read and changed as well. */
const open = async (options: LedgerOptions = {}) => {
  const folder = makeTestFolder();
  onTestFinished(folder.remove);
  const file = join(folder.path, "ledger.sqlite");
  const ledger = await openLedger(readLedgerPlace(`sqlite:${file}`, ""), options);
  onTestFinished(() => ledger.close());
  const database = new DatabaseSync(file);
  onTestFinished(() => database.close());
  const pruneAll = async () => ledger.prune((await ledger.state()).now + 60_000, ADA);
  return { ledger, database, pruneAll };
};

const COMPLETED = { word: "completed", outcome: "completed", asks: false, problem: null } as const;

it("prunes no payout that is still watched after its completion", async () => {
  let at = Date.now();
  const { ledger, pruneAll } = await open({ clock: () => at, watchedForMs: 3_600_000 });
  const name = nameOf();
  await ledger.transact(name, saving(name, made("P-1")));
  await ledger.sawPayout(name.account, "P-1", COMPLETED);
  expect(await pruneAll()).toBe(0);
  expect((await ledger.look(name)).row?.request.payee).toBe("B-1");
  at += 3_600_000;
  // The last reading is at the end of the time.
  expect(await pruneAll()).toBe(0);
  await ledger.sawPayout(name.account, "P-1", COMPLETED);
  expect(await pruneAll()).toBe(1);
});

it("prunes no event after one that stays, also if the clock was set back", async () => {
  let ahead = 0;
  const { ledger } = await open({ clock: () => Date.now() + ahead });
  for (const [at, hours] of [0, 2, 0, 0].entries()) {
    ahead = hours * 3_600_000;
    await ledger.recordStart(runOf({ workflowId: `run-${at}` }), startOf());
  }
  const [, ...kept] = await ledger.events("account-1");
  expect(await ledger.pruneEvents(Date.now() + 3_600_000)).toBe(1);
  expect(await ledger.events("account-1")).toEqual(kept);
});

it("tells a reader, and an endpoint, of events that another process prunes while they are read", async () => {
  const { find } = Store.prototype;
  const reads = vi.spyOn(Store.prototype, "find");
  onTestFinished(() => reads.mockRestore());
  const begin = async () => {
    const { ledger } = await open();
    for (const at of [1, 2, 3, 4, 5])
      await ledger.recordStart(runOf({ workflowId: `run-${at}` }), startOf());
    const [first, , , , last] = await ledger.events("account-1");
    if (first === undefined) throw new Error("It was recorded.");
    await ledger.undelivered("endpoint", "account-1", 1, 60_000);
    await ledger.delivered("endpoint", first);
    reads.mockImplementation(async function (this: Store, ...queries: ReadonlyArray<Query>) {
      if (queries[0]?.sql.includes("number > $2")) {
        reads.mockImplementation(find);
        await ledger.pruneEvents(Date.now() + 3_600_000);
      }
      return find.call(this, ...queries);
    });
    return { ledger, first, last };
  };
  const { first, ledger } = await begin();
  await expect(ledger.events("account-1", { after: first.id })).rejects.toThrow(/were pruned/);
  const other = await begin();
  expect(await other.ledger.undelivered("endpoint", "account-1", 9, 60_000)).toEqual([
    { ...other.last, missed: 3 },
  ]);
});

it("leaves no text of a paid run, of one that failed before a write, nor of a row that was not started", async () => {
  const { database, ledger, pruneAll } = await open({ watchedForMs: 0 });
  const paid = nameOf({ workflowId: "paid" });
  const runs = ["paid", "invalid", "row-1"] as const;
  const batch = "payouts/old";
  await ledger.saveBatch(batch, () => ({ batch: batchOf(batch) }));
  const row = { fingerprint: "f", amount: "5.00", currency: "EUR", terms: "t" };
  const texts = {
    reference: "Invoice",
    payee: "mark-9",
    mark: "mark-8",
    shown: "Eve",
    message: "No",
  };
  await ledger.saveRows(batch, [
    { ...row, ...texts, number: 1, workflowId: "row-1", state: "started" },
    { ...row, ...texts, number: 2, workflowId: "row-2", state: "rejected" },
    { ...row, ...texts, number: 3, workflowId: "row-3", state: "covered" },
  ]);
  for (const workflowId of runs) await ledger.recordStart(runOf({ workflowId }), startOf());
  await ledger.transact(paid, saving(paid, made("P-1")));
  await ledger.sawPayout(paid.account, "P-1", COMPLETED);
  await ledger.recordEnds(
    runs.map((workflowId) => ({
      workflowId,
      runId: null,
      endState: "failed" as const,
      endedAt: 1,
      endType: "InvalidRequest",
      endReason: "Eve has no account",
    })),
  );
  await ledger.saveBatch(batch, () => ({ batch: { ...batchOf(batch), state: "rejected" } }));
  expect(await pruneAll()).toBe(3);
  for (const { name, sealed } of [WRITES, RUNS, BATCH_ROWS, WAITS]) {
    const columns = [...sealed, ...(name === "waits" ? [] : ["payee", "reference"])];
    for (const column of columns) {
      const left = database.prepare(`SELECT ${column} FROM ${name} WHERE ${column} IS NOT NULL`);
      expect([name, column, left.all()]).toEqual([name, column, []]);
    }
  }
  const money = database.prepare("SELECT amount, currency FROM batch_rows");
  expect(money.all()).toHaveLength(3);
  expect(await pruneAll()).toBe(0);
});
