import {
  csv,
  fields,
  holding,
  ID,
  listWith,
  makeRows,
  type TestRow,
  tooWide,
} from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { makeRig } from "./support/rig.ts";
import { jsonOf } from "./support/starter.ts";

// A busy machine takes its time.

const { approvalHash, awaitStage, file, found, simulator, starter, temporal } = await makeRig({
  settleAfter: 0,
  balances: { EUR: "1000000.00" },
});

const importFile = (name: string, ...more: ReadonlyArray<string>) =>
  starter(["payouts", "import", name, "--json", ...more]);

const paid = async (reference: string) =>
  (await simulator.state()).payouts.filter((one) => one.payout_reference === reference).length;

const rowsOf = (reference: string, count: number): ReadonlyArray<TestRow> =>
  makeRows(reference, count).map((row) => ({
    ...row,
    payout: { ...row.payout, payout_reference: reference },
  }));

const answer = async (batch: string, by: string, ...more: ReadonlyArray<string>) => {
  await awaitStage(batch, "awaitApproval");
  const hash = await approvalHash(batch);
  return starter(["approve", batch, "--by", by, "--hash", hash, "--json", ...more]);
};

/** A file that Ann gave and Bob has rejected. */
const rejected = async (name: string, rows: ReadonlyArray<TestRow>) => {
  const path = await file(name, csv(rows));
  const started = await importFile(path, "--by", "Ann", "--approve-above", "1");
  const batch = String(jsonOf(started)["workflowId"]);
  expect(await answer(batch, "Bob", "--reject", "fraud")).toMatchObject({ exitCode: 0 });
  await temporal.client.workflow.result(batch).catch(() => undefined);
  await found(`WorkflowId = "${batch}" AND ExecutionStatus = "Failed"`);
  return { batch, path };
};

describe("a file that a person has rejected", () => {
  it("stays rejected, until somebody overrules it by name and another approves it anew", async () => {
    const rows = rowsOf("rejected", 3);
    const { batch, path } = await rejected("rejected.csv", rows);

    const again = await importFile(path, "--by", "Ann");
    expect(again.exitCode).toBe(2);
    expect(jsonOf(again)).toMatchObject({
      error: { type: "EndedByPerson", message: holding(`${batch}, which Bob rejected on `) },
    });
    const dry = await importFile(path, "--dry-run");
    expect(dry.exitCode).toBe(2);
    expect(jsonOf(dry)).toMatchObject({
      new: 3,
      rejected: [{ workflowId: batch, runId: ID, rows: 3, by: "Bob", why: "fraud" }],
    });
    const reported = await starter(["payouts", "import", path, "--dry-run"]);
    expect(reported.stdout.replaceAll(/\s+/g, " ")).toContain("rejected 3 of the new rows");
    expect(tooWide(reported.stdout)).toEqual([]);
    const nameless = await importFile(path, "--overrule", "a mistake");
    expect([nameless.exitCode, nameless.stdout]).toEqual([2, holding("--overrule needs --by")]);
    expect(await paid("rejected")).toBe(0);

    // It is approved anew, whatever the limit, and by none of those who are behind it.
    const overrule = ["--by", "Carol", "--overrule", "a mistake"];
    const overruled = await importFile(path, ...overrule, "--approve-above", "1000");
    expect(overruled.exitCode).toBe(0);
    const meanwhile = await importFile(path, "--by", "Dan", "--overrule", "ok");
    expect(meanwhile.stderr.replaceAll(/\s+/g, " ")).toContain(
      "started by Carol, with an approval, since it pays what was rejected. This import, by Dan, with an approval,",
    );
    for (const name of ["Ann", "Carol"]) {
      expect(await answer(batch, name)).toMatchObject({
        exitCode: 2,
        stdout: holding("a second person has to decide"),
      });
    }
    expect(await paid("rejected")).toBe(0);
    expect(await answer(batch, "Bob")).toMatchObject({ exitCode: 0 });
    const ended = await starter(["payouts", "status", batch, "--wait", "--json"]);
    expect(ended.exitCode).toBe(0);
    expect(await paid("rejected")).toBe(3);

    const audit = jsonOf(await starter(["audit", batch, "--json"]));
    expect(audit["entries"]).toEqual(
      listWith(
        fields({ who: "Bob", what: "rejected", detail: fields({ why: "fraud", batch }) }),
        fields({ who: "Carol", what: "overruled: rejected", detail: fields({ why: "a mistake" }) }),
        fields({ who: "Bob", what: "approved" }),
      ),
    );
    // Nothing of it is left to be overruled.
    const known = await importFile(path, "--by", "Ann");
    expect([known.exitCode, known.stderr]).toEqual([0, holding("has its run already")]);
  });

  it("is known by its rows, in whatever file and order they come again", async () => {
    const rows = rowsOf("moved", 3);
    const { batch } = await rejected("moved.csv", rows);
    const other = await file(
      "moved-again.csv",
      csv([...rowsOf("fresh", 1), ...rows.slice(1).toReversed()]),
    );
    const refused = await importFile(other, "--by", "Ann");
    expect(refused.exitCode).toBe(2);
    expect(jsonOf(refused)).toMatchObject({
      error: { type: "EndedByPerson", message: holding(`2 of the new rows stand in ${batch}`) },
    });
    expect(await paid("moved")).toBe(0);
    const fresh = await file("fresh.csv", csv(rowsOf("fresh", 1)));
    const nothing = await importFile(fresh, "--by", "Ann", "--overrule", "for nothing");
    expect([nothing.exitCode, nothing.stdout]).toEqual([2, holding("nothing to overrule")]);
    expect(await importFile(fresh, "--by", "Ann", "--wait")).toMatchObject({ exitCode: 0 });
  });

  it("stays so after it was overruled, and cancelled before it was approved", async () => {
    const { batch, path } = await rejected("twice.csv", rowsOf("twice", 2));
    expect(await importFile(path, "--by", "Carol", "--overrule", "a mistake")).toMatchObject({
      exitCode: 0,
    });
    await awaitStage(batch, "awaitApproval");
    await starter(["payouts", "cancel", batch, "--by", "Ann"]);
    await temporal.client.workflow.result(batch);
    expect(await importFile(path, "--by", "Ann")).toMatchObject({ exitCode: 2 });
    expect(await paid("shared")).toBe(0);
  });
});

it("a row that a person rejects in one file is not paid by another that was imported before", async () => {
  const rows = rowsOf("shared", 3);
  const start = async (name: string, part: ReadonlyArray<TestRow>) => {
    const started = await importFile(
      await file(name, csv(part)),
      "--by",
      "Ann",
      "--approve-above",
      "1",
    );
    expect([started.exitCode, started.stdout]).toEqual([0, holding("payouts/")]);
    return String(jsonOf(started)["workflowId"]);
  };
  const first = await start("one.csv", rows.slice(0, 2));
  const second = await start("two.csv", rows.slice(1));
  expect(await answer(first, "Bob", "--reject", "fraud")).toMatchObject({ exitCode: 0 });
  await found(`WorkflowId = "${first}" AND ExecutionStatus = "Failed"`);
  expect(await answer(second, "Dan")).toMatchObject({ exitCode: 0 });
  const ended = await starter(["payouts", "status", second, "--wait", "--json"]);
  expect(ended.exitCode).toBe(1);
  expect(jsonOf(ended)).toMatchObject({ progress: { started: 1, rejected: 1 } });
  expect(await paid("shared")).toBe(1);
  const reported = await starter(["payouts", "status", second]);
  expect(reported.stdout).toContain("1 started, 1 rejected in another file");
});

it("a rejected row is known however its amount is written", async () => {
  const rows = rowsOf("written", 2);
  const { batch } = await rejected("written.csv", rows);
  const [row] = rows;
  const amount = String(Number(row!.payout.amount));
  const again = await file("written-2.csv", csv([{ ...row!, payout: { ...row!.payout, amount } }]));
  const called = await importFile(again, "--by", "Ann");
  expect(called.exitCode).toBe(2);
  expect(jsonOf(called)).toMatchObject({ error: { message: holding(batch) } });
});

it("a rejected batch that is retried is approved anew, and not by who overruled", async () => {
  const { batch } = await rejected("retried.csv", rowsOf("retried", 2));
  const retry = ["runs", "retry", batch, "--by", "Carol", "--reason", "a mistake"];
  expect(await starter(retry)).toMatchObject({ exitCode: 2 });
  expect(await starter([...retry, "--overrule"])).toMatchObject({ exitCode: 0 });
  for (const name of ["Ann", "Carol"]) {
    expect(await answer(batch, name)).toMatchObject({ exitCode: 2 });
  }
  expect(await answer(batch, "Bob")).toMatchObject({ exitCode: 0 });
  const ended = await starter(["payouts", "status", batch, "--wait", "--json"]);
  expect(ended.exitCode).toBe(0);
  expect(await paid("retried")).toBe(2);
});

it("a limit holds for a currency however it is written", async () => {
  const rows = rowsOf("mixed", 2).map((row, index) => ({
    ...row,
    payout: { ...row.payout, amount: "60.00", currency: index === 0 ? "EUR" : "eur" },
  }));
  const path = await file("mixed.csv", csv(rows));
  const started = jsonOf(await importFile(path, "--by", "Ann", "--approve-above", "100"));
  expect(started).toMatchObject({ totals: { EUR: "120.00" } });
  const batch = String(started["workflowId"]);
  expect(await answer(batch, "Bob")).toMatchObject({ exitCode: 0 });
  const ended = await starter(["payouts", "status", batch, "--wait", "--json"]);
  expect(ended.exitCode).toBe(0);
  await found(`PaymentBatch = "${batch}" AND PaymentCurrency = "EUR"`, 2);

  const capitals = rows.map((row) => ({ ...row, payout: { ...row.payout, currency: "EUR" } }));
  const same = await importFile(await file("capitals.csv", csv(capitals)), "--by", "Ann");
  expect(same.exitCode).toBe(0);
  expect(await paid("mixed")).toBe(2);
});

it("a batch that was terminated shows what it had started", async () => {
  await starter(["pause", "a test", "--by", "Ada"]);
  const path = await file("ended.csv", csv(rowsOf("ended", 8)));
  const started = jsonOf(await importFile(path, "--window", "5"));
  const batch = String(started["workflowId"]);
  await found(`PaymentBatch = "${batch}"`, 5);
  await temporal.client.workflow.getHandle(batch).terminate("by hand");
  const status = await starter(["payouts", "status", batch, "--json"]);
  expect(jsonOf(status)).toMatchObject({
    state: "terminated",
    progress: { rows: 8, done: 5, started: 5 },
    runs: { running: 5 },
  });
  const person = await starter(["payouts", "status", batch]);
  expect(person.stdout).toContain("8: 5 started, 3 not started");
  await starter(["resume", "--by", "Ada"]);
});
