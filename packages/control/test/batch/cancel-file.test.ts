import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger, type WriteRow } from "@durable-payments/ledger";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkBatchFile, payFile, planFile } from "../../src/actions/batch/index.ts";
import { cancelBatch } from "../../src/actions/stopping.ts";
import { batchOfId } from "../../src/views/batch.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";

/*
 * A wrong file is stopped at once, by the ledger alone: whatever the state of a row is, nothing more is sent under its id. What
 * has left is said by what became of it, because no stop order reverses it.
 */

const ROWS = 300;
const STARTED = 100;
const ada = { by: "ada", how: "--by", reason: "wrong file" };
const idOf = (number: number) => `payout/k${number}`;

/** A file of which the first rows have started. Numbers are lines: the first row is in line 2. */
const started = async () => {
  const ledger = await openLedger("memory");
  const { operations } = operationsOn(ledger);
  const folder = await mkdtemp(join(tmpdir(), "cancel-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "wrong.jsonl");
  const payout = {
    amount: "10.00",
    currency: "EUR",
    payout_reason: "Payment for goods",
    payment_date: "2026-12-01",
    is_payer: "Y",
  };
  const rows = Array.from({ length: ROWS }, (_, at) => ({
    key: `k${at}`,
    beneficiary_id: `b-${at}`,
    payout: { ...payout, payout_reference: `Invoice ${at}` },
  }));
  await writeFile(file, rows.map((one) => JSON.stringify(one)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  await payFile(operations, checked, await planFile(operations, checked, ada), ada);
  const numbers = (await ledger.batchRows(checked.batch, { limit: STARTED })).map(
    ({ number }) => number,
  );
  await ledger.claimRows(checked.batch, numbers);
  const write = async (at: number, amount: string, more: Partial<WriteRow>) =>
    put(ledger, row({ workflowId: idOf(at), ...more, request: { ...row().request, amount } }));
  const outcomes = ["completed", "failed", "returned", null] as const;
  for (const [at, outcome] of outcomes.entries()) {
    const madeId = `payout-${at}`;
    await write(at, `${at + 1}.00`, { state: "done", madeId });
    const seen = { word: "x", outcome, asks: false, problem: null };
    await ledger.sawPayout(ACCOUNT, madeId, seen);
  }
  const end = { endState: "succeeded", endedAt: 1, endType: null, endReason: null } as const;
  await ledger.recordEnds([{ workflowId: idOf(0), runId: "run-1", ...end }]);
  await write(4, "5.00", { state: "unknown", doubt: 1, sends: 1 });
  await write(5, "6.00", { state: "ready" });
  return { ledger, operations, batch: checked.batch };
};

const sent = (
  [
    ["paid", "1.00"],
    ["failed", "2.00"],
    ["cameBack", "3.00"],
    ["underWay", "4.00"],
    ["unknown", "5.00"],
  ] as const
).map(([state, amount]) => ({ state, currency: "EUR", amount }));

test("a cancelled file says how many started rows go on, and is not called rejected", async () => {
  const { batch, ledger, operations } = await started();
  // Of the started rows one is paid, and the money of one came back.
  const counts = { notStarted: ROWS - STARTED, stopped: 0, goOn: STARTED - 2, unanswered: 0 };
  expect(await cancelBatch(operations, batch, ada)).toEqual({
    ...counts,
    sent: expect.arrayContaining(sent),
  });
  expect((await ledger.batch(batch))?.state).toBe("cancelled");
  const decided = (await ledger.decisionsOf(idOf(5))).map(({ kind }) => kind);
  expect(decided).not.toContain("end");
});

test.each(["with Temporal", "without Temporal", "while Temporal refuses each request"])(
  "each started row gets a stop order, whatever its state: %s",
  async (how) => {
    const { batch, ledger, operations } = await started();
    await ledger.pause("batch", batch, ada);
    const isAlone = how === "without Temporal";
    const isRefused = how === "while Temporal refuses each request";
    const refuse = async () => {
      // As of a namespace that fails over.
      throw Object.assign(new Error("not active"), { code: 9, details: "", metadata: {} });
    };
    if (isRefused)
      Object.assign(operations.client.workflowService, { describeWorkflowExecution: refuse });
    const deciding = isAlone ? { ...operations, client: undefined } : operations;
    const stopped = STARTED - 2;
    const counts = { notStarted: ROWS - STARTED, stopped, goOn: 0 };
    const unanswered = isAlone || isRefused ? stopped : 0;
    expect(await cancelBatch(deciding, batch, { ...ada, isStarted: true })).toEqual({
      ...counts,
      unanswered,
      sent: expect.arrayContaining(sent),
    });
    const ends = await Promise.all(
      Array.from({ length: ROWS }, async (_, at) =>
        (await ledger.decisionsOf(idOf(at))).some(({ kind }) => kind === "end"),
      ),
    );
    expect(ends).toEqual(ends.map((_, at) => at < STARTED && at !== 0 && at !== 2));
    // What was paid stays paid, and what was made may still be paid.
    const runs = await ledger.runs({ workflowIds: [0, 3, 4, 5].map(idOf) });
    expect(Object.fromEntries(runs.map(({ status, workflowId }) => [workflowId, status]))).toEqual({
      [idOf(0)]: "succeeded",
      [idOf(3)]: "waiting",
      [idOf(4)]: "unknown",
      [idOf(5)]: "ended",
    });
    const { listed } = await batchOfId(ledger, batch, true);
    const reasons = (listed ?? [])
      .filter(({ status }) => status === "ended" || status === "rejected")
      .map(({ reason }) => reason);
    expect(reasons.length).toBeGreaterThan(ROWS - STARTED);
    expect(new Set(reasons)).toEqual(new Set(["stopped by ada: wrong file"]));
    // A second time, as after a lost answer, it says the same of what never starts.
    expect(await cancelBatch(deciding, batch, { ...ada, isStarted: true })).toMatchObject({
      notStarted: ROWS - STARTED,
      goOn: 0,
    });
  },
);

test("the worker of a file may notice its cancellation first: counts and reasons are the same", async () => {
  const { batch, ledger, operations } = await started();
  const { saveBatch } = ledger;
  const noticed = {
    ...ledger,
    saveBatch: async (...given: Parameters<typeof saveBatch>) => {
      const saved = await saveBatch(...given);
      await ledger.rejectRows(batch);
      return saved;
    },
  };
  const stopped = await cancelBatch({ ...operations, ledger: noticed }, batch, ada);
  expect(stopped).toMatchObject({ notStarted: ROWS - STARTED });
  const { listed } = await batchOfId(ledger, batch, true);
  const reasons = listed?.filter(({ status }) => status === "rejected").map(({ reason }) => reason);
  expect(new Set(reasons)).toEqual(new Set(["stopped by ada: wrong file"]));
});
