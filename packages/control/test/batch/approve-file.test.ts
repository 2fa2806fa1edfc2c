import { lateAfterMsOf } from "@durable-payments/protocol/settings";
// Who approves a file sees first whom it pays, and approves that: each row in the log of its own workflow id, where alone it
// permits a send.
import { defaultAssumptions } from "@durable-payments/client/effect";
import { batchLogId, type Ledger, openLedger } from "@durable-payments/ledger";
import { UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../../src/actions/batch/index.ts";
import { retryPayment } from "../../src/actions/retry/retry.ts";
import { pause, resume } from "../../src/actions/stopping.ts";
import {
  batchOfId,
  type ListFilter,
  listRuns,
  readInbox,
  readLog,
  readReport,
  readRun,
} from "../../src/views/index.ts";
import { plannedRepair } from "../support/repairing.ts";
import { row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";
import { approveFile } from "../support/approving.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "approve-"));
});
afterAll(() => rm(folder, { recursive: true }));

const ada = { by: "Ada", how: "--by", reason: "month's end" };
const bob = { ...ada, by: "Bob" };

/** A file of rows with these amounts, each to a beneficiary of its own; above 0 it needs approval. */
const upload = async (
  amounts: ReadonlyArray<string>,
  ledger?: Ledger,
  more: ReadonlyArray<string> = [],
  approveAbove: string | undefined = "0.01",
) => {
  const opened = ledger ?? (await openLedger("memory"));
  if (ledger === undefined) onTestFinished(() => opened.close());
  const rig = operationsOn(opened);
  const file = join(folder, "november.csv");
  const head =
    "key,beneficiary_id,amount,currency,payout_reason,payout_reference,payment_date,is_payer";
  const rows = amounts.map(
    (amount, at) => `k${at + 1},b-${at + 1},${amount},EUR,Goods,Invoice ${at + 1},2026-12-01,Y`,
  );
  await writeFile(file, [head, ...rows, ...more].join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { ...ada, approveAbove, notDuplicate: "checked" };
  const plan = await planFile(rig.operations, checked, options);
  const { state } = await payFile(rig.operations, checked, plan, options);
  return { ...rig, ledger: opened, id: checked.batch, checked, state };
};

/** Keeps the payees of all rows, as the worker does. */
const readPayees = async (ledger: Ledger, id: string, notFound: ReadonlyArray<number> = []) => {
  for (const { number } of await ledger.batchRows(id, { limit: 10_000 }))
    await ledger.keepPayees(
      id,
      [number],
      notFound.includes(number)
        ? UNKNOWN_PAYEE
        : { mark: `mark-${number}`, shown: `Supplier ${number}, DE, account ending in 3000` },
    );
};

const approvals = async (ledger: Ledger, key: string) =>
  (await ledger.decisionsOf(`payout/${key}`)).filter(({ kind }) => kind === "approve");

test("nobody approves a file before the worker has read its payees, except to reject it", async () => {
  const { id, ledger, operations, state } = await upload(["1.00", "2.00"]);
  expect(state).toBe("reading");
  await expect(approveFile(operations, id, bob)).rejects.toThrow("it is reading");
  const inbox = () => readInbox(ledger, lateAfterMsOf());
  expect((await inbox()).items).toEqual([]);
  await readPayees(ledger, id);
  expect((await inbox()).items).toMatchObject([{ workflowId: id }]);
  const other = await upload(["1.00"]);
  await decideBatch(other.operations, other.id, "reject", bob);
  expect(await other.ledger.batch(other.id)).toMatchObject({ state: "rejected" });
});

test("who approves a file sees its sums, its payees, those that are new, the largest rows, and the duplicates with their reason", async () => {
  const amounts = Array.from({ length: 30 }, (_, at) => `${at + 1}.00`);
  const usd = "usd,b-31,3.00,USD,Goods,Invoice 31,2026-12-01,Y";
  const twin = "twin,b-1,1.00,EUR,Goods,Invoice 1,2026-12-01,Y";
  const { id, ledger } = await upload(amounts, undefined, [usd, twin]);
  await readPayees(ledger, id, [4]);
  const seen = await batchOfId(ledger, id);
  expect(seen).toMatchObject({
    notDuplicate: "checked",
    warnings: [expect.stringMatching(/^Row 33 may be a duplicate of row \d+ of this file/)],
    listing: {
      sums: [
        { currency: "EUR", amount: "466.00" },
        { currency: "USD", amount: "3.00" },
      ],
      payees: 32,
      newPayees: 32,
      notFound: 1,
      problem: null,
      notListed: 12,
    },
  });
  const rows = seen?.listing?.rows ?? [];
  expect(rows).toHaveLength(20);
  // The unknown payee, the whole of its currency, then the largest.
  expect(rows[0]).toMatchObject({ number: 4, amount: "3.00" });
  expect(rows[1]).toMatchObject({ number: 32, currency: "USD", amount: "3.00" });
  expect(rows[2]).toMatchObject({
    number: 31,
    workflowId: "payout/k30",
    amount: "30.00",
    shown: "Supplier 31, DE, account ending in 3000",
    isNew: true,
  });
  expect((await batchOfId(ledger, id, true)).listing?.rows).toHaveLength(32);
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items[0]).toMatchObject({
    kind: "batch",
    file: {
      hash: seen?.listing?.hash,
      newPayees: 32,
      notDuplicate: "checked",
      warnings: [expect.any(String)],
    },
  });
});

test("the approval of a file is one of each row, for its request and its payee's account", async () => {
  const { id, ledger, operations } = await upload(["60.00", "70.00", "80.00"]);
  await readPayees(ledger, id, [3]);
  const hash = (await batchOfId(ledger, id)).listing?.hash;
  expect(await approveFile(operations, id, { ...bob, hash })).toMatchObject({
    batch: { state: "approved", approvedBy: "Bob" },
  });
  const [decision] = (await ledger.decisionsOf(batchLogId(id))).filter(
    ({ kind }) => kind === "approve",
  );
  expect(decision?.value).toMatchObject({ rows: 3, seen: "210.00 EUR to 3 payees" });
  expect(await batchOfId(ledger, id)).toMatchObject({ approvedAt: decision?.at });
  const [row, , other] = await ledger.batchRows(id, { limit: 3 });
  const { contentHash } = (await ledger.batch(id)) ?? {};
  const value = { generation: 1, file: id };
  expect(await approvals(ledger, "k1")).toMatchObject([
    {
      step: "createPayout",
      by: "Bob",
      question: contentHash,
      value: { ...value, terms: row?.terms, account: "mark-2" },
    },
  ]);
  expect(await approvals(ledger, "k3")).toMatchObject([
    {
      value: {
        ...value,
        terms: other?.terms,
        account: "mark-4",
        seen: `80.00 EUR to ${other?.shown}`,
      },
    },
  ]);
  // The service does not know its payee: should it ever, that is another account, and asks again.
  expect(await approvals(ledger, "k2")).toMatchObject([{ value: { account: "unknown" } }]);
  expect(await ledger.batches({ mustNotify: true })).toMatchObject([{ id }]);
  await expect(decideBatch(operations, id, "reject", bob)).rejects.toThrow("it is approved");
});

test("neither the uploader nor who has started a row approves it, in any spelling", async () => {
  const { id, ledger, operations } = await upload(["60.00"]);
  await readPayees(ledger, id);
  await expect(approveFile(operations, id, { ...bob, by: "ADA" })).rejects.toThrow(
    "another person",
  );
  const run = { account: operations.account, workflowId: "payout/k1", runId: null, type: "payout" };
  const about = {
    batch: null,
    batchRow: null,
    amount: null,
    currency: null,
    payee: null,
    reference: null,
  };
  await ledger.recordStart(
    { ...run, ...about },
    { by: "bob", how: "--by", value: { type: "payout", content: "own" } },
  );
  await expect(approveFile(operations, id, bob)).rejects.toThrow(
    /^Row 2 of payouts\/\w+: bob started it/,
  );
  expect(await approvals(ledger, "k1")).toEqual([]);
});

test("an approval names the rows that were shown: other rows or payees are refused", async () => {
  const { id, ledger, operations } = await upload(["60.00"]);
  await readPayees(ledger, id);
  const hash = (await batchOfId(ledger, id)).listing?.hash;
  await ledger.keepPayees(id, [2], { mark: "other", shown: "Mallory" });
  await expect(approveFile(operations, id, { ...bob, hash })).rejects.toThrow(
    "have changed since they were shown",
  );
  expect(await approvals(ledger, "k1")).toEqual([]);
});

test("an approval whose answer was lost is given again, and not after a cancellation", async () => {
  const { id, ledger, operations } = await upload(["60.00"]);
  await readPayees(ledger, id);
  const approving = { ...bob, hash: (await batchOfId(ledger, id)).listing?.hash };
  for (const _ of ["first", "again"])
    expect((await decideBatch(operations, id, "approve", approving)).batch.state).toBe("approved");
  await decideBatch(operations, id, "cancel", ada);
  await expect(decideBatch(operations, id, "approve", approving)).rejects.toThrow("is cancelled");
});

test("an approval that a crash has interrupted approves nothing, and is continued by the same command", async () => {
  const amounts = Array.from({ length: 250 }, (_, at) => `${at + 1}.00`);
  const { id, ledger, operations } = await upload(amounts);
  await readPayees(ledger, id);
  let left = 130;
  const broken: Ledger = {
    ...ledger,
    decide: async (...decision) => {
      if (left-- <= 0) throw new Error("killed");
      return ledger.decide(...decision);
    },
  };
  await expect(approveFile({ ...operations, ledger: broken }, id, bob)).rejects.toThrow("killed");
  expect(await ledger.batch(id)).toMatchObject({ state: "needsApproval" });
  expect(await ledger.claimRows(id, [2])).toEqual([]);
  await approveFile(operations, id, bob);
  const counts = await Promise.all(
    amounts.map(async (_, at) => (await approvals(ledger, `k${at + 1}`)).length),
  );
  expect(new Set(counts)).toEqual(new Set([1]));
});

test("after a rejection, another file with the same row is approved anew", async () => {
  const { id, ledger, operations } = await upload(["60.00", "70.00"]);
  await readPayees(ledger, id);
  await approveFile(operations, id, bob);
  expect(await decideBatch(operations, id, "cancel", bob)).toMatchObject({ rejected: 2 });
  expect(await ledger.batchCounts(id)).toMatchObject([{ status: "rejected", rows: 2 }]);
  const again = await upload(["60.00"], ledger);
  expect(again.state).toBe("reading");
  await readPayees(ledger, again.id);
  await approveFile(again.operations, again.id, { ...bob, by: "Carol" });
  const log = await ledger.decisionsOf("payout/k1");
  // The start of the second file voids the approval of the first.
  expect(log.map(({ by, kind }) => `${kind} ${by}`)).toEqual([
    "start Ada",
    "approve Bob",
    "start Ada",
    "approve Carol",
  ]);
});

test("each screen says of a rejected file that it is not paid, and of a row's key what a later file does with it", async () => {
  const { id, ledger, operations } = await upload(["60.00", "70.00"]);
  await decideBatch(operations, id, "reject", bob);
  const seen = async (batch: string) => {
    const { runs } = await listRuns({ ledger }, { batch }, { limit: 9 });
    const { totals } = await readReport(ledger, { batch });
    const sums = Object.fromEntries(totals.map(({ amount, state }) => [state, amount]));
    return { runs: runs.map(({ status }) => status), sums };
  };
  expect(await seen(id)).toEqual({
    runs: ["cancelled", "cancelled"],
    sums: { notPaid: "130.00" },
  });
  const sources = { ledger, temporal: undefined, whyNot: [] };
  expect(await readRun(sources, "payout/k1")).toMatchObject({
    status: "cancelled",
    reason: "rejected by Bob: month's end",
  });
  const again = await upload(["60.00"], ledger);
  expect(await seen(again.id)).toEqual({ runs: ["approval"], sums: { planned: "60.00" } });
  const ofStatus = async (statuses: ListFilter["statuses"]) =>
    (await listRuns({ ledger }, { statuses }, { limit: 9 })).runs.map(({ reason }) => reason);
  expect(await ofStatus(["approval"])).toEqual(["its file needs approval"]);
  expect(await ofStatus(["running", "paused"])).toEqual([]);
  expect(await seen(id)).toEqual({ runs: ["cancelled"], sums: { notPaid: "70.00" } });
  expect(await batchOfId(ledger, id)).toMatchObject({
    outcome: "notPaid",
    totals: [
      { isCovered: false, money: "notPaid", rows: 1, sums: [{ amount: "70.00" }] },
      { isCovered: true, money: "planned", rows: 1, sums: [{ amount: "60.00" }] },
    ],
  });
});

test("a row that was never started is not retried: a new file pays it", async () => {
  const { id, ledger, operations } = await upload(["60.00"]);
  await decideBatch(operations, id, "reject", bob);
  const { next } = await readRun({ ledger, temporal: undefined, whyNot: [] }, "payout/k1");
  expect(next.map(({ action }) => action)).toEqual(["show", "show"]);
  expect(await plannedRepair(operations, ada)).toMatchObject({ retries: [], notHelped: [] });
  await expect(retryPayment(operations, "payout/k1", ada)).rejects.toThrow(
    "payout/k1 was never started, because its file was rejected or cancelled. To pay it, upload a new file",
  );
});

test("a file that needed no approval was not approved by anybody: it was started", async () => {
  const { id, operations, state } = await upload(["60.00"], undefined, [], "1000.00");
  expect(state).toBe("approved");
  const approving = { ...bob, hash: "0123456789abcdef0123456789abcdef" };
  for (const kind of ["approve", "reject"] as const)
    await expect(decideBatch(operations, id, kind, approving)).rejects.toThrow(
      "is not waiting for approval: it was started. Nothing was recorded.",
    );
});

test("the key of a row that was rejected before its start is free for another amount, which is approved anew", async () => {
  const { id, ledger, operations } = await upload(["60.00", "70.00"]);
  await decideBatch(operations, id, "reject", bob);
  // Nobody asks for an approval of this file, but the keys were to be approved.
  const again = await upload(["60.00", "71.00"], ledger, [], "1000.00");
  expect(again.state).toBe("reading");
  await readPayees(ledger, again.id);
  await approveFile(again.operations, again.id, bob);
  expect(await ledger.runs({ workflowIds: ["payout/k2"] })).toMatchObject([
    { batch: again.id, amount: "71.00", status: "running" },
  ]);
  // Now the key is that of a row that may be paid.
  await expect(upload(["72.00"], ledger, [], "1000.00")).rejects.toThrow(
    "keys that were used before",
  );
});

test("a cancelled file says which of its rows another file pays, so that its sums are those of the report", async () => {
  const { id, ledger, operations } = await upload(["60.00", "70.00", "80.00"]);
  await decideBatch(operations, id, "cancel", bob);
  // The second payment is another one: it has the key alone.
  const again = await upload(["60.00", "71.00"], ledger);
  await decideBatch(operations, again.id, "cancel", bob);
  const last = await upload(["60.00"], ledger);
  const seen = { word: "paid", outcome: "completed", asks: false, problem: null } as const;
  const request = { ...row().request, amount: "60.00", currency: "EUR" };
  const { account } = operations;
  const made = row({ account, workflowId: "payout/k1", state: "done", madeId: "p-1", request });
  await ledger.transact(made, () => ({ row: made }));
  await ledger.sawPayout(account, "p-1", seen);
  const totalsOf = async (batch: string) =>
    (await batchOfId(ledger, batch)).totals.map(({ isCovered, money, rows, sums }) => [
      isCovered,
      money,
      rows,
      sums.map(({ amount }) => amount).join(),
    ]);
  const { lines } = await readReport(ledger, {}, "batch");
  const reported = (batch: string) =>
    lines.filter(({ key }) => key === batch).map(({ amount, payments }) => [payments, amount]);
  expect(await totalsOf(id)).toEqual([
    [false, "notPaid", 2, "150.00"],
    [true, "paid", 1, "60.00"],
  ]);
  expect(await totalsOf(last.id)).toEqual([[false, "paid", 1, "60.00"]]);
  expect(reported(last.id)).toEqual([[1, "60.00"]]);
  expect(await batchOfId(ledger, id)).toMatchObject({
    notPaid: [{ status: "covered", state: "paid", madeId: "p-1" }, {}, {}],
  });
});

test("the log of a file has its start, its pauses, its approval and its cancellation", async () => {
  const { id, ledger, operations } = await upload(["60.00"]);
  const other = await upload([], ledger, ["other,b-9,1.00,EUR,Goods,Other,2026-12-01,Y"]);
  await readPayees(ledger, id);
  await pause(operations, id, bob);
  await pause(operations, other.id, bob);
  await resume(operations, id, bob);
  await approveFile(operations, id, bob);
  await pause(operations, undefined, bob);
  await decideBatch(operations, id, "cancel", bob);
  const { lines, verification } = await readLog(ledger, id, { isVerified: true });
  expect(lines.map((line) => "kind" in line && line.kind)).toEqual([
    "start",
    "pause",
    "resume",
    "approve",
    "pause",
    "cancel",
  ]);
  expect(verification).toEqual({ isIntact: true, lines: 3 });
});
