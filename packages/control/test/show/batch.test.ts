import { openLedger, type BatchRowState, type PayoutOutcome } from "@durable-payments/ledger";
import { expect, test } from "vitest";
import { decideBatch } from "../../src/actions/batch/batch.ts";
import { listingOf } from "../../src/rules/listing.ts";
import { batchOfId, progressOfBatch, readBatch } from "../../src/views/batch.ts";
import { follow } from "../../src/views/follow.ts";
import { listRuns } from "../../src/views/list.ts";
import { csvText, rowCsv } from "../../src/views/csv.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";

const ID = "payouts/4d34";
const ACTOR = { by: "ada", how: "--by", reason: "wrong payee" };

/** A started file of rows, each with its payout if `amounts` says what was sent. */
const fileOf = async (
  amounts: ReadonlyArray<string | null>,
  state: BatchRowState = "started",
  type = "payout",
) => {
  const ledger = await openLedger("memory");
  const about = { id: ID, account: ACCOUNT, type, file: "may.csv", contentHash: "c" };
  const people = { createdBy: "ada", createdAt: 0, approvedBy: null, details: "{}", chunks: 1 };
  const batch = { ...about, ...people, rows: amounts.length, state: "approved" as const };
  await ledger.saveBatch(ID, () => ({ batch }));
  const shown = "Muster GmbH, DE, account ending in 2051";
  const rows = amounts.map((_, at) => ({
    number: at + 1,
    workflowId: `payout/${at + 1}`,
    fingerprint: `f${at}`,
    terms: "t",
    mark: "m",
    shown,
    payee: "b-1",
    amount: "250.00",
    currency: "EUR",
    reference: "Invoice 17",
    state,
    message: null,
  }));
  await ledger.saveRows(ID, rows);
  for (const [at, amount] of amounts.entries()) {
    const made = row({ workflowId: `payout/${at + 1}`, state: "done", madeId: `p-${at + 1}` });
    if (amount !== null) await put(ledger, { ...made, request: { ...made.request, amount } });
  }
  const see = (payoutId: string, outcome: PayoutOutcome | null) =>
    ledger.sawPayout(ACCOUNT, payoutId, { word: "x", outcome, asks: false, problem: null });
  /** Records that the run of a row has failed. */
  const fail = async (number: number) => {
    const workflowId = `payout/${number}`;
    const of = { account: ACCOUNT, workflowId, type, runId: "run-1", batch: ID, batchRow: number };
    const none = { amount: null, currency: null, payee: null, reference: null };
    await ledger.recordRun({ ...of, ...none }, 1);
    const end = {
      endState: "failed",
      endedAt: 2,
      endType: "PayoutFailed",
      endReason: "x",
    } as const;
    await ledger.recordEnds([{ workflowId, runId: "run-1", ...end }]);
  };
  return { fail, ledger, see };
};

test("a payout that completed after its run was cancelled is paid, on the screen and in the file", async () => {
  const { ledger, see } = await fileOf(["250.00"]);
  const about = { account: ACCOUNT, workflowId: "payout/1", step: null, question: null, value: {} };
  await ledger.decide({ ...ACTOR, ...about, kind: "end" });
  const end = {
    endState: "cancelled",
    runId: null,
    endedAt: 1,
    endType: "CancelledFailure",
  } as const;
  await ledger.recordEnds([{ ...end, workflowId: "payout/1", endReason: "Workflow canceled" }]);
  expect(await batchOfId(ledger, ID)).toMatchObject({
    outcome: "open",
    totals: [{ money: "underWay", rows: 1 }],
    notPaid: [],
  });
  await see("p-1", "completed");
  const batch = await batchOfId(ledger, ID, true);
  expect(batch).toMatchObject({ outcome: "paid", totals: [{ money: "paid" }], notPaid: [] });
  const lines = (batch.listed ?? []).map((row) => rowCsv(ID, row));
  expect(csvText(lines, false)).toMatch(
    /^payout\/1,\w+,paid,createPayout,p-1,,,250.00,EUR,"Muster GmbH, DE",2051,Invoice 17,,2\d{3}-.*Z,1970-01-01T.*Z,2\d{3}-.*,x,payouts\/4d34,1,\n/,
  );
});

test("each row that is not paid is named as soon as its money says so, although its run has not ended", async () => {
  const { ledger, see } = await fileOf(["250.00", "250.00", "250.00"]);
  await see("p-1", "failed");
  await see("p-2", "failed");
  await see("p-3", "completed");
  expect(await batchOfId(ledger, ID)).toMatchObject({
    outcome: "open",
    totals: [
      { money: "paid", rows: 1 },
      { money: "failed", rows: 2 },
    ],
    notPaid: [
      { number: 1, state: "failed" },
      { number: 2, state: "failed" },
    ],
    notNamed: 0,
  });
});

test("a file whose payouts came back offers to pay them again, from a file with new keys", async () => {
  const { ledger, see } = await fileOf(["250.00"]);
  await see("p-1", "completed");
  await see("p-1", "returned");
  expect((await batchOfId(ledger, ID)).next).toEqual([{ action: "pay", isNewFile: true }]);
});

test.each([
  ["refused", []],
  ["incomplete", [{ action: "retryAll", batch: ID }]],
])("a file offers a retry only if it can help: %s", async (reason, next) => {
  const { ledger } = await fileOf([null], "started", "onboardCardholder");
  const of = {
    account: ACCOUNT,
    workflowId: "payout/1",
    type: "onboardCardholder",
    runId: "run-1",
  };
  const card = { amount: "100.80", currency: "USD", payee: "m", reference: null };
  await ledger.recordRun({ ...of, ...card, batch: ID, batchRow: 1 }, 1);
  const end = { endState: "failed", endedAt: 2, endType: "NotVerified", endReason: "no" } as const;
  await ledger.recordEnds([{ ...end, ...of, endStep: null, endFacts: { reason } }]);
  expect((await batchOfId(ledger, ID)).next).toEqual(next);
});

test("a row of a cancelled file names the newer file, or the single run, that has its id now", async () => {
  const { ledger } = await fileOf([null, null, null], "waiting");
  await decideBatch({ ledger }, ID, "cancel", { by: "ada", reason: "wrong date" });
  const start = { by: "ada", how: "--by", value: { type: "payout", content: "c" } };
  const { amount, currency, payee, reference } = row().request;
  const of = { account: ACCOUNT, runId: null, type: "payout", amount, currency, payee, reference };
  const newer = { batch: "payouts/9e", batchRow: 7 };
  await ledger.recordStart({ ...of, ...newer, workflowId: "payout/1" }, start);
  await ledger.recordStart({ ...of, batch: null, batchRow: null, workflowId: "payout/2" }, start);
  expect((await batchOfId(ledger, ID)).notPaid.map(({ reason }) => reason)).toEqual([
    "stopped by ada: wrong date; row 7 of the newer file payouts/9e has it",
    "stopped by ada: wrong date; a newer run of payout/2 has it",
    "stopped by ada: wrong date",
  ]);
});

test("a row has the state of the money of its planned payment, also that of an earlier file", async () => {
  for (const state of ["started", "covered"] as const) {
    const { ledger } = await fileOf([null, null, null], state);
    const { now } = await ledger.state();
    const planned = { account: ACCOUNT, amount: "250.00", currency: "EUR", payee: "b-1" };
    for (const at of [1, 2, 3])
      await ledger.recordRun(
        {
          ...planned,
          workflowId: `payout/${at}`,
          type: "payout",
          runId: null,
          batch: "payouts/earlier",
          batchRow: at,
          reference: null,
        },
        now - 3_000,
      );
    const endNow = (workflowId: string) =>
      ledger.decide({
        ...ACTOR,
        account: ACCOUNT,
        workflowId,
        step: null,
        question: null,
        value: {},
        kind: "end",
      });
    await ledger.recover(ACTOR);
    // The restored ledger may have forgotten its payout.
    await endNow("payout/1");
    // Its beneficiary may have been made twice, and nothing was paid.
    const lost = row({ workflowId: "payout/2", step: "createBeneficiary", state: "unknown" });
    await put(ledger, {
      ...lost,
      operation: "createBeneficiary",
      request: { ...lost.request, amount: null, currency: null },
    });
    const states = async () => {
      const rows = (await batchOfId(ledger, ID, true)).listed ?? [];
      const { runs } = await listRuns({ ledger }, {}, { limit: 9 });
      const listed = runs.toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
      const byRow = rows.map((one) => one.state);
      expect(listed.flatMap(({ payments }) => payments.map((one) => one.state))).toEqual(byRow);
      return byRow;
    };
    expect(await states()).toEqual(["unknown", "planned", "planned"]);
    await endNow("payout/3");
    expect((await states())[2]).toBe("unknown");
    await ledger.close();
  }
});

test("an amended row has the amount and the payee that were sent, never the name of the payee before", async () => {
  const { ledger } = await fileOf([null]);
  const sent = row({ workflowId: "payout/1", state: "done", madeId: "p-1" });
  const request = { ...sent.request, amount: "34.80", payee: "b-mallory" };
  await put(ledger, { ...sent, request });
  const { listed, totals } = await batchOfId(ledger, ID, true);
  expect(totals).toMatchObject([{ sums: [{ amount: "34.80", currency: "EUR" }] }]);
  expect(listed).toMatchObject([{ amount: "34.80", payee: "b-mallory", payeeName: null }]);
  await ledger.rememberPayees(ACCOUNT, [{ payee: "b-mallory", mark: null, shown: "Mallory SARL" }]);
  expect((await batchOfId(ledger, ID, true)).listed).toMatchObject([{ payeeName: "Mallory SARL" }]);
});

test("who approves a repair sees first what it changes, however small, and the largest payments after it", () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({
    number: at + 1,
    workflowId: `payout/${at + 1}`,
    fingerprint: `f${at}`,
    amount: `${at + 1}.00`,
    currency: "EUR",
    payee: "b-1",
    reference: null,
    run: `run-${at}`,
    terms: at === 0 ? "amended" : "",
    mark: null,
    shown: at === 0 ? "payout.amount: 2.00 → 1.00" : "as it was",
    state: "waiting" as const,
    message: null,
    repair: {},
  }));
  const { notListed, rows: listed } = listingOf(rows, new Set(), false);
  expect(listed.slice(0, 2).map(({ number }) => number)).toEqual([1, 30]);
  expect(notListed).toBe(10);
});

test("the outcome of a batch is open until each row is final, and the end of each failed run is recorded", async () => {
  const { fail, ledger, see } = await fileOf(["1.00", "2.00"]);
  const outcome = async () => (await batchOfId(ledger, ID)).outcome;
  await see("p-1", "completed");
  expect(await outcome()).toBe("open");
  await see("p-2", "failed");
  // The list of failed runs does not have it yet: a script that continues now would retry a part.
  expect(await outcome()).toBe("open");
  await fail(2);
  expect(await outcome()).toBe("notPaid");
  await see("p-2", "completed");
  expect(await outcome()).toBe("paid");
  await see("p-2", "returned");
  expect(await outcome()).toBe("notPaid");
});

test("a finished file whose row is retried is not finished until the row has an outcome again", async () => {
  const { ledger } = await fileOf([null]);
  const { amount, currency, payee, reference } = row().request;
  const payment = { amount, currency, payee, reference };
  const run = { account: ACCOUNT, workflowId: "payout/1", type: "payout", batch: ID, batchRow: 1 };
  const value = { type: "payout", content: "c" };
  await ledger.recordStart({ ...run, runId: "run-1", ...payment }, { ...ACTOR, value });
  const end = { workflowId: "payout/1", endedAt: 1, endType: "NotFunded", endReason: "no funds" };
  await ledger.recordEnds([{ ...end, runId: "run-1", endState: "failed" }]);
  await ledger.finishBatch(ID);
  expect(await batchOfId(ledger, ID)).toMatchObject({ state: "finished", outcome: "notPaid" });
  await ledger.recordRun({ ...run, runId: "run-2", ...payment }, Date.now() + 1_000);
  expect(await batchOfId(ledger, ID)).toMatchObject({ state: "approved", outcome: "open" });
});

test("a batch is followed until each row is final", async () => {
  const { ledger, see } = await fileOf(["1.00"]);
  const seen: Array<string> = [];
  for await (const view of follow(() => readBatch(ledger, ID), progressOfBatch)) {
    seen.push(view.totals.map(({ money }) => money).join());
    await see("p-1", "completed");
  }
  expect(seen).toEqual(["underWay", "paid"]);
});

test("what pauses everything is resumed for everything: no command is offered that is refused", async () => {
  const { ledger } = await fileOf([null], "waiting");
  await ledger.pause("all", "", ACTOR);
  expect((await batchOfId(ledger, ID)).next).toEqual([{ action: "resume" }]);
  await ledger.resume("all", "", ACTOR);
  await ledger.pause("batch", ID, ACTOR);
  expect((await batchOfId(ledger, ID)).next).toEqual([{ action: "resume", workflowId: ID }]);
});

test.each(["finished", "rejected"] as const)("a %s file is not cancelled", async (state) => {
  const { ledger } = await fileOf([null]);
  const batch = await ledger.batch(ID);
  if (batch === undefined) throw new Error("no file");
  await ledger.saveBatch(ID, () => ({ batch: { ...batch, state } }));
  await expect(decideBatch({ ledger }, ID, "cancel", ACTOR)).rejects.toThrow(`is ${state}`);
  expect(await ledger.batch(ID)).toMatchObject({ state });
});

test("a repair says how a run that it left out goes on, and is open as long, unless it was cancelled", async () => {
  const { fail, ledger } = await fileOf([null]);
  await fail(1);
  const id = "repairs/1";
  const about = { account: ACCOUNT, type: "repair", file: "failed runs", contentHash: "c" };
  const people = { createdBy: "ada", createdAt: 0, approvedBy: null, details: "{}", chunks: 1 };
  const batch = { ...about, ...people, id, rows: 1, state: "finished" } as const;
  await ledger.saveBatch(id, () => ({ batch }));
  const [found] = await ledger.batchRows(ID);
  if (found === undefined) throw new Error("no row");
  await ledger.saveRows(id, [{ ...found, run: "run-1", state: "covered", message: "By bob." }]);
  const seen = async () => (await batchOfId(ledger, id)).outcome;
  const reason = async () => (await batchOfId(ledger, id)).notPaid[0]?.reason;
  expect(await reason()).toBe("By bob.");
  expect(await seen()).toBe("notPaid");
  // Somebody else has retried the run.
  await ledger.reopenRun("payout/1", "run-1", "run-2");
  expect(await seen()).toBe("open");
  expect(await reason()).toBe("By bob. Its latest run: running.");
  await ledger.saveBatch(id, () => ({ batch: { ...batch, state: "cancelled" } }));
  expect(await seen()).toBe("notPaid");
  await put(ledger, row({ workflowId: "payout/1", state: "done", madeId: "p-1" }));
  await ledger.sawPayout(ACCOUNT, "p-1", {
    word: "x",
    outcome: "completed",
    asks: false,
    problem: null,
  });
  const end = { endState: "succeeded", endedAt: 3, endType: null, endReason: null } as const;
  await ledger.recordEnds([{ workflowId: "payout/1", runId: "run-2", ...end }]);
  expect(await seen()).toBe("paid");
  expect(await reason()).toBe("By bob. Its latest run: succeeded.");
});
