import { openLedger } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";
import { expect, it, onTestFinished } from "vitest";
import { planRepair } from "../../src/actions/retry/repair.ts";
import { batchOfId, readBatch } from "../../src/views/batch.ts";
import { ACCOUNT, row } from "../support/rows.ts";

// What a user's own workflow has paid before it failed is not sent by its retry, and no screen says so.

const bookedAndFailed = async (endType = "Refused") => {
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const [workflowId, runId] = ["booking/1", "run-1"];
  const planned = { amount: "114.00", currency: "USD", payee: "b-1", reference: "deposit" };
  const of = { account: ACCOUNT, workflowId, runId, type: "booking", batch: null, batchRow: null };
  const value = { type: "booking", content: "c" };
  await ledger.recordStart({ ...of, ...planned }, { by: "ada", how: "--by", value });
  const paid = (amount: string) => ({
    ...row().request,
    amount,
    currency: "USD",
    paymentDate: "2026-12-01",
  });
  const writes = [
    row({ workflowId, step: "deposit", state: "done", madeId: "po-1", request: paid("114.00") }),
    row({ workflowId, step: "fee", state: "refused", request: paid("1.14") }),
  ];
  for (const given of writes)
    await ledger.transact({ account: ACCOUNT, workflowId, step: given.step }, ({ epoch, now }) => ({
      row: { ...given, epoch, createdAt: now, changedAt: now },
      entries: [{ who: "test", what: "made by hand", details: {} }],
    }));
  const end = { endState: "failed", endedAt: 2, endType, endReason: "no" } as const;
  await ledger.recordEnds([{ ...end, workflowId, runId }]);
  return { ledger, workflowId };
};

const FEE = { amount: "1.14", currency: "USD" };

it("plans what a retry sends, and lists what has failed, without a deposit that was paid before", async () => {
  const { ledger } = await bookedAndFailed();
  const plan = await planRepair({ client: undefined, ledger }, {}, { by: "ada" });
  expect(plan.sums).toEqual([FEE]);
  expect(plan.retries).toMatchObject([{ ...FEE, kept: ["deposit"] }]);
  expect(await ledger.failures({})).toMatchObject([{ runs: 1, sums: [FEE] }]);
});

it("keeps the money of a repair apart by its state: of a run that failed again, a part was paid", async () => {
  const { ledger, workflowId } = await bookedAndFailed();
  const of = { type: "repair", file: "failed runs", contentHash: "c", rows: 1, chunks: 1 };
  const by = { account: ACCOUNT, createdBy: "ada", createdAt: 0, approvedBy: null, details: "{}" };
  const batch = { ...of, ...by, id: "repairs/1", state: "approved" } as const;
  await ledger.saveBatch("repairs/1", () => ({ batch }));
  const { rows } = await planRepair({ client: undefined, ledger }, {}, { by: "ada" });
  await ledger.saveRows(
    "repairs/1",
    rows.map((planned) => ({ ...planned.row, number: 1, state: "started" })),
  );
  await ledger.reopenRun(workflowId, "run-1", "run-2");
  expect((await readBatch(ledger, "repairs/1")).totals).toMatchObject([
    { status: "waiting", money: "underWay", rows: 1, sums: [{ ...FEE, amount: "114.00" }] },
    { status: "waiting", money: "notPaid", rows: 0, sums: [FEE] },
  ]);
  const { listed } = await batchOfId(ledger, "repairs/1", true);
  expect(listed).toMatchObject([{ paymentDate: "2026-12-01" }, { paymentDate: "2026-12-01" }]);
});

it("names what a retry cannot help with the reason alone", async () => {
  const { ledger, workflowId } = await bookedAndFailed(failureTypes.madeTwice);
  const whyNot = `A retry of ${workflowId} cannot help. It was made twice: sort it out with the bank.`;
  const plan = await planRepair({ client: undefined, ledger }, {}, { by: "ada" });
  expect(plan.notHelped).toEqual([{ workflowId, whyNot }]);
});

it("names the repair that has already retried all runs of some amendments", async () => {
  const { ledger, workflowId } = await bookedAndFailed();
  const of = { account: ACCOUNT, workflowId, step: null, question: null } as const;
  const acting = { by: "ada", how: "--by", reason: "wrong amount" };
  const value = { runId: "run-1", way: "start", repair: "repairs/1" };
  await ledger.decide({ ...of, ...acting, kind: "retry", value });
  await ledger.reopenRun(workflowId, "run-1", "run-2");
  const again = (amendEach: Readonly<Record<string, unknown>>) =>
    planRepair({ client: undefined, ledger }, {}, { ...acting, amendEach });
  await expect(again({ [workflowId]: {} })).rejects.toMatchObject({
    name: "NotAllowed",
    message: `These amendments are for runs that repairs/1 has already retried: ${workflowId}. Nothing was done.`,
    next: { action: "show", workflowId: "repairs/1" },
  });
  await expect(again({ [workflowId]: {}, "booking/2": {} })).rejects.toMatchObject({
    name: "InvalidInput",
    message: expect.stringContaining("have not failed, or do not match"),
  });
});
