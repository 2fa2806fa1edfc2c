import { openLedger } from "@durable-payments/ledger";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readInbox } from "../../src/views/inbox.ts";
import { findBatch, listBatches } from "../../src/views/batch.ts";
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
      state: number === 1 ? "failed" : "waiting",
      message: number === 1 ? "The account is closed." : null,
    })),
  );
});

it("shows every question and approval without Temporal, the oldest first", async () => {
  const { items, notes } = await readInbox(sources);
  expect(notes).toEqual(["Cannot connect to Temporal."]);
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
    state: null,
    statuses: ["asking", "unknown"],
    amount: "250.00",
    startedBy: "ada",
    notes: ["Cannot connect to Temporal."],
  });
  expect(run.steps).toMatchObject([{ kind: "write", name: "createPayout", state: "asking" }]);
  expect(run.next[0]).toEqual({ operation: "answer", workflowId: "invoice-17" });
});

it("says how the id of what was made is known", async () => {
  const { steps } = await readRun(sources, "invoice-19");
  expect(steps[0]?.text).toBe("po-9, found in the list by its key");
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
  await expect(readRun(sources, "nobody")).rejects.toMatchObject({ _tag: "NotFound" });
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
  const batch = await findBatch(ledger, "file-1");
  expect(batch?.notPaid).toMatchObject([{ number: 1, reason: "The account is closed." }]);
  expect(batch?.next).toContainEqual({ operation: "retryAll", batch: "file-1" });
  expect(batch?.notNamed).toBe(0);
  expect(await findBatch(ledger, "nobody")).toBeUndefined();
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
    state: "failed" as const,
    message: null,
  }));
  await ledger.saveRows("file-2", rows);
  const { notNamed, notPaid } = (await findBatch(ledger, "file-2")) ?? {};
  expect([notPaid?.length, notNamed]).toEqual([100, 3]);
  await ledger.saveBatch("file-2", () => ({
    batch: { ...batch, id: "file-2", state: "rejected" },
  }));
});

it("counts what waits for what, with the money", async () => {
  const { inbox, runs, waiting } = await readOverview(sources);
  expect({ inbox, runs }).toEqual({ inbox: 3, runs: null });
  expect(waiting).toMatchObject([
    { what: "answers", count: 1, money: [{ currency: "EUR", amount: "250.00" }] },
    { what: "approvals", count: 1, money: [{ currency: "EUR", amount: "250.00" }] },
  ]);
});
