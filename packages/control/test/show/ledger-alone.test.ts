import { lateAfterMsOf } from "@durable-payments/protocol/settings";
import { openLedger } from "@durable-payments/ledger";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readInbox } from "../../src/views/inbox.ts";
import { batchOfId, listBatches } from "../../src/views/batch.ts";
import { readOverview } from "../../src/views/overview.ts";
import { readLog, readRun } from "../../src/views/run.ts";
import { ACCOUNT, put, question, row } from "../support/rows.ts";

const ledger = await openLedger("memory");
const read = { terms: "t", mark: "m", shown: "Ltd, DE, account ending in 3000" };
const sources = { ledger, temporal: undefined, whyNot: ["Cannot connect to Temporal."] };
afterAll(() => ledger.close());

beforeAll(async () => {
  await put(ledger, row({ state: "asking", doubt: 1, sends: 1, question: question({ since: 2 }) }));
  await put(
    ledger,
    row({
      workflowId: "invoice-18",
      question: question({ id: "q2", kind: "approval", reason: "above 100.00 EUR", since: 1 }),
    }),
  );
  await put(
    ledger,
    row({ workflowId: "invoice-19", state: "done", madeId: "po-9", knownBy: "key" }),
  );
  await ledger.saveBatch("file-1", () => ({
    batch: {
      id: "file-1",
      account: ACCOUNT,
      type: "payout",
      file: "salaries.csv",
      contentHash: "c",
      rows: 2,
      state: "needsApproval",
      createdBy: "ada",
      createdAt: 0,
      approvedBy: null,
      details: "{}",
      chunks: 1,
    },
  }));
  await ledger.saveRows(
    "file-1",
    [1, 2].map((number) => ({
      number,
      workflowId: `row-${number}`,
      fingerprint: `f${number}`,
      ...read,
      payee: null,
      amount: "10.50",
      currency: "EUR",
      reference: null,
      state: number === 1 ? "started" : "waiting",
      message: null,
    })),
  );
  const workflowId = "row-1";
  const planned = { amount: "10.50", currency: "EUR", payee: null, reference: null };
  const of = { account: ACCOUNT, type: "payout", batch: "file-1", batchRow: 1 };
  await ledger.recordRun({ ...of, ...planned, workflowId, runId: "run-1" }, 1);
  const end = { endState: "failed", endedAt: 2, endType: "Refused" } as const;
  await ledger.recordEnds([
    { ...end, workflowId, runId: "run-1", endReason: "The account is closed." },
  ]);
});

it("finds the run of a payment by the id of its key, as events name it", async () => {
  const own = await openLedger("memory");
  const [workflowId, ownerId] = ["payout/rent/2026-11", "payRent/17"];
  const none = { amount: null, currency: null, payee: null, reference: null };
  const run = { ...none, account: ACCOUNT, type: "payRent", workflowId: ownerId, runId: "run-1" };
  await own.recordRun({ ...run, batch: null, batchRow: null }, 1);
  const made = { state: "done", madeId: "po-rent", knownBy: "answer" } as const;
  const write = row({ ...made, workflowId, ownerId, rootId: ownerId });
  await own.transact(write, () => ({ row: write }), write);
  const { steps, workflowId: shown } = await readRun({ ...sources, ledger: own }, workflowId);
  expect(shown).toBe(ownerId);
  expect(steps).toMatchObject([{ key: workflowId, madeId: "po-rent" }]);
  const { runs } = await own.listRuns({ find: workflowId }, { limit: 2 });
  expect(runs.map((found) => found.run.workflowId)).toEqual([ownerId]);
  await expect(readRun({ ...sources, ledger: own, whyNot: [] }, "payout/none")).rejects.toThrow(
    "no run of payout/none",
  );
  await own.close();
});

it("shows every question and approval without Temporal, the oldest first", async () => {
  const { items } = await readInbox(ledger, lateAfterMsOf());
  expect(items.map(({ kind, workflowId }) => [kind, workflowId])).toEqual([
    ["approval", "invoice-18"],
    ["question", "invoice-17"],
    ["batch", "file-1"],
  ]);
  const [approval, asked] = items;
  expect(approval).toMatchObject({ amount: "250.00", currency: "EUR", startedBy: "ada" });
  expect(Object.keys(asked?.choices ?? {})).toEqual(["found", "resend", "end"]);
  expect(asked?.choices.resend).toMatch(/^RESEND: pays twice if the first attempt/);
});

it("shows a run as the ledger has it where Temporal cannot be asked", async () => {
  const run = await readRun(sources, "invoice-17");
  expect(run).toMatchObject({
    status: "asking",
    amount: "250.00",
    startedBy: "ada",
    notes: ["Cannot connect to Temporal."],
  });
  expect(run.steps).toMatchObject([{ kind: "write", name: "createPayout", state: "asking" }]);
  const answer = { action: "answer", workflowId: "invoice-17", question: "q1" };
  const choices = ["found", "resend", "end"];
  expect(run.next).toEqual(choices.map((choice) => ({ ...answer, choice })));
});

it("says how the id of what was made is known", async () => {
  const { steps } = await readRun(sources, "invoice-19");
  expect(steps[0]?.text).toBe("po-9, found in the list by its key, under way");
});

it("names a card that only a person says was made, and what to do", async () => {
  const made = { step: "createCard", state: "done", madeId: "card-7", knownBy: "person" } as const;
  const result = { card_id: "card-7", not_confirmed: true };
  await put(ledger, row({ ...made, workflowId: "card", operation: "createCard", result }));
  const { steps } = await readRun(sources, "card");
  expect(steps[0]?.text).toBe(
    "card-7, named by a person; not confirmed: check at the service that card-7 is the result",
  );
});

it("rejects for a run that nobody knows", async () => {
  await expect(readRun(sources, "nobody")).rejects.toMatchObject({ name: "ConnectionFailed" });
});

it("has the log of a run, with decisions, and verifies its chain", async () => {
  const actor = { by: "bob", how: "flag", reason: "audit" };
  await ledger.pause("run", "invoice-19", actor);
  const log = await readLog(ledger, "invoice-19", { isVerified: true });
  expect(log.lines[0]).toMatchObject({ kind: "start", by: "ada" });
  expect(log.lines[1]).toMatchObject({ what: "made by hand", who: "test" });
  expect(log.lines.at(-1)).toMatchObject({ kind: "pause", by: "bob" });
  expect(log.verification).toMatchObject({ isIntact: true });
  await ledger.resume("run", "invoice-19", actor);
});

it("names the failed rows of a batch with their reasons, and the retry", async () => {
  expect(await listBatches(ledger, 10)).toMatchObject([{ id: "file-1", rows: 2 }]);
  const batch = await batchOfId(ledger, "file-1");
  expect(batch?.notPaid).toMatchObject([{ number: 1, reason: "The account is closed." }]);
  expect(batch?.next).toContainEqual({ action: "retryAll", batch: "file-1" });
  expect(batch?.notNamed).toBe(0);
  await expect(batchOfId(ledger, "nobody")).rejects.toThrow("There is no batch nobody.");
});

it("says how many failed and rejected rows of a batch it does not name", async () => {
  const [batch] = await ledger.batches();
  if (batch === undefined) throw new Error("No batch");
  await ledger.saveBatch("file-2", () => ({ batch: { ...batch, id: "file-2" } }));
  const rows = Array.from({ length: 103 }, (_, number) => ({
    number,
    workflowId: `many-${number}`,
    fingerprint: `m${number}`,
    ...read,
    payee: null,
    amount: "1",
    currency: number === 0 ? "USD" : "EUR",
    reference: null,
    state: "rejected" as const,
    message: null,
  }));
  await ledger.saveRows("file-2", rows);
  const { notNamed, notPaid } = await batchOfId(ledger, "file-2");
  expect([notPaid?.length, notNamed]).toEqual([100, 3]);
  await ledger.saveBatch("file-2", () => ({
    batch: { ...batch, id: "file-2", state: "rejected" },
  }));
});

it("counts what needs a person and is under way, with the money, also that of a file", async () => {
  expect(await readOverview(ledger, lateAfterMsOf())).toEqual({
    inbox: [
      {
        kind: "approval",
        count: 1,
        money: [{ group: "payouts", currency: "EUR", amount: "250.00" }],
      },
      {
        kind: "question",
        count: 1,
        money: [{ group: "payouts", currency: "EUR", amount: "250.00" }],
      },
      { kind: "batch", count: 1, money: [{ group: "payouts", currency: "EUR", amount: "21.00" }] },
    ],
    failed: 0,
    cameBack: 0,
    underWay: { payouts: 1, money: [{ currency: "EUR", amount: "250.00" }] },
    next: [{ action: "inbox" }],
  });
});

it("names what is late and what has failed, and the lists of them; a retry that is open has not failed", async () => {
  const { request } = row();
  const late = { ...request, paymentDate: "2026-01-02" };
  await put(ledger, row({ workflowId: "late", state: "done", madeId: "po-1", request: late }));
  for (const workflowId of ["failed", "retried"])
    await put(ledger, row({ workflowId, state: "refused" }));
  const end = { runId: "run-1", endedAt: Date.now(), endType: "Refused", endReason: "closed" };
  const ends = ["failed", "retried"].map((workflowId) => ({ ...end, workflowId }));
  await ledger.recordEnds(ends.map((one) => ({ ...one, endState: "failed" as const })));
  await ledger.recordEnds([{ ...end, workflowId: "retried", runId: "run-2", endState: null }]);
  await put(ledger, row({ workflowId: "back", state: "done", madeId: "po-2" }));
  for (const outcome of ["completed", "returned"] as const)
    await ledger.sawPayout(ACCOUNT, "po-2", { word: outcome, outcome, asks: false, problem: null });
  expect(await readOverview(ledger, lateAfterMsOf())).toMatchObject({
    failed: 1,
    cameBack: 1,
    next: [
      { action: "inbox" },
      { action: "list", isLate: true },
      { action: "list", status: "returned" },
      { action: "list", status: "failed" },
    ],
  });
});

it("names the payees of an amendment", async () => {
  await ledger.rememberPayees(ACCOUNT, [{ payee: "b-2", mark: null, shown: "Mallory SARL, FR" }]);
  const about = { account: ACCOUNT, workflowId: "invoice-19", step: null, question: null };
  const changed = ["payout.amount: 250.00 → 25.00", "beneficiary_id: b-1 → b-2"];
  const by = { by: "bob", how: "flag", reason: "wrong payee" };
  await ledger.decide({ ...about, ...by, kind: "amend", value: { changed } });
  const { names } = await readLog(ledger, "invoice-19");
  expect(names).toEqual({ "b-1": null, "b-2": "Mallory SARL, FR" });
});
