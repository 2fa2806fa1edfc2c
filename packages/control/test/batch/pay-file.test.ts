import { defaultAssumptions } from "@durable-payments/api-core";
import { openLedger } from "@durable-payments/ledger";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../../src/actions/batch/index.ts";
import { writeResultFile } from "../../src/views/result-file.ts";
import { findBatch, readInbox } from "../../src/views/index.ts";
import { operationsOn } from "../support/stub-client.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "batch-"));
});
afterAll(() => rm(folder, { recursive: true }));

const HEADER =
  "key,beneficiary_id,amount,currency,payout_reason,payout_reference,payment_date,is_payer";
const line = (key: string, amount = "10.00", payee = "b-1"): string =>
  `${key},${payee},${amount},EUR,Payment for goods,Invoice ${key},2026-12-01,Y`;

const fileOf = async (name: string, lines: ReadonlyArray<string>): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, [HEADER, ...lines].join("\n"));
  return file;
};

const checked = async (name: string, lines: ReadonlyArray<string>) =>
  checkBatchFile(await fileOf(name, lines), defaultAssumptions);

const ada = { by: "Ada", how: "--by", reason: "month's end" };
const bob = { ...ada, by: "Bob" };

const rig = async () => {
  const ledger = await openLedger("memory");
  return { ledger, ...operationsOn(ledger) };
};

test.each(["csv", "jsonl"])("docs/pay.md shows a valid %s file", async (kind) => {
  const page = await readFile(new URL("../../../../docs/pay.md", import.meta.url), "utf8");
  const [, content = ""] = new RegExp(`^\`\`\`${kind}\\n([^]*?)^\`\`\`$`, "m").exec(page) ?? [];
  const file = join(folder, `docs.${kind}`);
  await writeFile(file, content);
  const { rows } = await checkBatchFile(file, defaultAssumptions);
  expect(rows).toMatchObject([{ workflowId: "payout/invoice-17" }]);
});

test("every fault of every row is named at once, and no account number", async () => {
  const file = checked("faulty.csv", [line("1", "-5"), line("2"), line("2"), "3,b-1"]);
  await expect(file).rejects.toMatchObject({
    message: expect.stringContaining("3 faults"),
    faults: [
      { row: 2, column: "amount" },
      { row: 4, column: "key", problem: "is already the key of row 3" },
      { row: 5, problem: expect.stringContaining("has 2 cells") },
    ],
  });
});

test("a file becomes a batch whose rows carry no input, and chunks that do", async () => {
  const { asked, ledger, operations } = await rig();
  const file = await checked("one.csv", [line("1"), line("2", "20.50")]);
  const plan = await planFile(operations, file, ada);
  expect(plan).toMatchObject({
    rows: 2,
    totals: { EUR: "30.50" },
    known: [],
    needsApproval: false,
  });
  expect(await payFile(operations, file, plan, ada)).toMatchObject({
    state: "approved",
    createdBy: "Ada",
  });
  expect(asked.started).toMatchObject([
    { type: "payoutBatch", workflowId: `${file.batch}/1`, args: [{ startedBy: "Ada" }] },
  ]);
  expect(await ledger.batchCounts(file.batch)).toEqual([
    { state: "waiting", currency: "EUR", rows: 2, amount: "30.50" },
  ]);
  expect(await ledger.runs({ batch: file.batch })).toHaveLength(2);
});

test("the same rows are the same batch; a row of another file is not paid again", async () => {
  const { asked, ledger, operations } = await rig();
  const first = await checked("first.csv", [line("1"), line("2")]);
  await payFile(operations, first, await planFile(operations, first, ada), ada);
  await payFile(operations, first, await planFile(operations, first, ada), ada);
  expect(asked.started).toHaveLength(1);
  const second = await checked("second.csv", [line("2"), line("3")]);
  const plan = await planFile(operations, second, ada);
  expect(plan).toMatchObject({
    known: [{ number: 2, batch: first.batch }],
    totals: { EUR: "10.00" },
  });
  await payFile(operations, second, plan, ada);
  expect(await ledger.batchCounts(second.batch)).toMatchObject([
    { state: "rejected", rows: 1 },
    { state: "waiting", rows: 1 },
  ]);
});

test("somebody else's upload of the same rows is refused", async () => {
  const { operations } = await rig();
  const file = await checked("mine.csv", [line("1")]);
  const plan = await planFile(operations, file, ada);
  await payFile(operations, file, plan, ada);
  await expect(payFile(operations, file, plan, bob)).rejects.toThrow("Ada uploaded the same rows");
});

test("a key that has paid something else is a fault", async () => {
  const { operations } = await rig();
  const file = await checked("key.csv", [line("1")]);
  await payFile(operations, file, await planFile(operations, file, ada), ada);
  const other = await checked("other-key.csv", [line("1", "10.00", "b-2")]);
  await expect(planFile(operations, other, ada)).rejects.toThrow(
    "keys that belong to other payments: 1",
  );
  const more = await checked("other-amount.csv", [line("1", "9999.00")]);
  await expect(planFile(operations, more, ada)).rejects.toThrow(
    "keys that belong to other payments: 1",
  );
});

test("rows that pay the same within a file are likely duplicates", async () => {
  const { operations } = await rig();
  const twin = (key: string): string => line(key).replace(`Invoice ${key}`, "Invoice 7");
  const file = await checked("twins.csv", [twin("1"), line("2"), twin("3")]);
  const plan = await planFile(operations, file, ada);
  expect(plan.similar).toMatchObject([{ number: 4, others: [{ workflowId: "payout/1" }] }]);
});

test("a total above the account's limit waits for a second person", async () => {
  const { ledger, operations } = await rig();
  await ledger.setLimits(
    operations.account,
    { maxAmounts: null, approveAbove: { EUR: "100" } },
    bob,
  );
  const file = await checked("limit.csv", [line("1", "60"), line("2", "60")]);
  expect(await planFile(operations, file, ada)).toMatchObject({ needsApproval: true });
});

test("an upload that comes late does not revive a batch that was cancelled meanwhile", async () => {
  const { ledger, operations } = await rig();
  const file = await checked("late.csv", [line("1")]);
  const plan = await planFile(operations, file, ada);
  const { saveRows } = ledger;
  const late = {
    ...ledger,
    saveRows: async (...rows: Parameters<typeof saveRows>) => {
      await payFile(operations, file, plan, ada);
      await decideBatch(operations, file.batch, "cancel", bob);
      return saveRows(...rows);
    },
  };
  await payFile({ ...operations, ledger: late }, file, plan, ada);
  expect(await ledger.batch(file.batch)).toMatchObject({ state: "rejected" });
  expect(await ledger.batchCounts(file.batch)).toMatchObject([{ state: "rejected", rows: 1 }]);
});

test("a total above the limit waits for a second person, who is not the uploader", async () => {
  const { asked, ledger, operations } = await rig();
  const file = await checked("large.csv", [line("1", "60"), line("2", "60")]);
  const options = { ...ada, approveAbove: "100" };
  const plan = await planFile(operations, file, options);
  expect((await payFile(operations, file, plan, options)).state).toBe("needsApproval");
  await expect(
    decideBatch(operations, file.batch, "approve", { ...bob, by: "ADA" }),
  ).rejects.toThrow("another person");
  expect(await decideBatch(operations, file.batch, "approve", bob)).toMatchObject({
    batch: { state: "approved", approvedBy: "Bob" },
  });
  expect(asked.signals).toMatchObject([[`${file.batch}/1`, "durable-payments/nudge", {}]]);
  await expect(decideBatch(operations, file.batch, "reject", bob)).rejects.toThrow(
    "it is approved",
  );
  expect(await decideBatch(operations, file.batch, "cancel", bob)).toMatchObject({ rejected: 2 });
  expect(await ledger.batchCounts(file.batch)).toMatchObject([{ state: "rejected", rows: 2 }]);
});

test("whoever approves a file sees which rows are likely duplicates", async () => {
  const { ledger, operations } = await rig();
  const first = await checked("paid.csv", [line("1")]);
  await payFile(operations, first, await planFile(operations, first, ada), ada);
  const again = await checked("again.csv", [line("2").replace("Invoice 2", "Invoice 1")]);
  const options = { ...ada, approveAbove: "1" };
  await payFile(operations, again, await planFile(operations, again, options), options);
  const warning = expect.stringMatching(/^Row 2 may be a duplicate of payout\/1 \(Invoice 1\)/);
  expect(await findBatch(ledger, again.batch)).toMatchObject({ warnings: [warning] });
  const { items } = await readInbox({ ledger, temporal: undefined, whyNot: [] });
  expect(items[0]?.reason).toContain("Row 2 may be a duplicate of payout/1");
});

test("a result file has a line for each row", async () => {
  const { ledger, operations } = await rig();
  const file = await checked("results.csv", [line("1"), line("=2")]);
  await payFile(operations, file, await planFile(operations, file, ada), ada);
  const out = join(folder, "out.csv");
  await writeResultFile(ledger, file.batch, out);
  const lines = (await readFile(out, "utf8")).trim().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[1]).toBe("2,1,payout/1,,waiting,,10.00,EUR,Invoice 1");
  expect(lines[2]).toMatch(/^3,'=2,/);
});
