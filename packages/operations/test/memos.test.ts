import { startAttributes } from "@durable-payments/activities/start-attributes";
import { PAYMENT_STAGE, WORKFLOW } from "@durable-payments/protocol";
import { defaultPayloadConverter } from "@temporalio/common";
import { expect, it, vi } from "vitest";
import { auditRun } from "../src/audit/audit.ts";
import { listBatches } from "../src/batch/list.ts";
import { reportBatch } from "../src/batch/report.ts";
import type { Temporal } from "../src/connection/temporal.ts";
import { listRuns } from "../src/runs/list.ts";
import { reportRun } from "../src/runs/report.ts";
import { startServer } from "./support/server.ts";

const { connected, workflow } = await startServer();

const input = { beneficiary_id: "b-1", payout: { amount: "20.00", currency: "eur" } };

/** A run that whoever reaches Temporal can start, with what they write beside its input. */
const plant = (workflowId: string, memo: Record<string, unknown>, type: string = WORKFLOW.payout) =>
  workflow.start(type, {
    workflowId,
    taskQueue: "nobody",
    args: [type === WORKFLOW.payout ? input : { rows: 2, totals: { EUR: "9000.00" }, chunks: 1 }],
    typedSearchAttributes: [...startAttributes({ currency: "USD" })],
    memo,
  });

/** Payloads that nothing decodes here, and one that says what a list says. */
const UNREADABLE = {
  encrypted: { metadata: { encoding: Buffer.from("binary/encrypted") }, data: Buffer.from("?") },
  malformed: { metadata: { encoding: Buffer.from("json/plain") }, data: Buffer.from("{,") },
  bare: {},
  startedBy: defaultPayloadConverter.toPayload("Ada"),
};

const plantRaw = (
  temporal: Temporal,
  workflowId: string,
  { input: given = defaultPayloadConverter.toPayload(input), type = "payout" } = {},
) =>
  temporal.client.workflowService.startWorkflowExecution({
    namespace: temporal.client.options.namespace,
    requestId: workflowId,
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: "nobody" },
    input: { payloads: [given] },
    memo: { fields: UNREADABLE },
    searchAttributes: {
      indexedFields: { [PAYMENT_STAGE.name]: defaultPayloadConverter.toPayload("starting") },
    },
  });

const listed = (temporal: Temporal, workflowId: string) =>
  vi.waitFor(
    async () => {
      for await (const run of listRuns(temporal, { standing: [] })) {
        if (run.workflowId === workflowId) return run;
      }
      throw new Error(`${workflowId} is not listed`);
    },
    { timeout: 120_000, interval: 100 },
  );

it("what a run moves is what its input says, whatever its memo does", () =>
  connected(async (temporal) => {
    await plant("forged", {
      startedBy: "Ada",
      payment: {
        amount: "1.00",
        currency: "USD",
        payee: "Good Ltd",
        before: { amount: "2.00", currency: "USD" },
      },
    });
    const payment = { amount: "20.00", currency: "EUR", payee: "b-1" };
    expect((await reportRun(temporal, "forged")).payment).toEqual(payment);
    const run = await listed(temporal, "forged");
    expect(run).toMatchObject({ payment, currency: "EUR", startedBy: "Ada" });
    expect(run.payment).toEqual(payment);
    const [started] = (await auditRun(temporal, "forged")).entries;
    expect(started).toMatchObject({ detail: { amount: "20.00", currency: "EUR" } });
  }));

it("a run without a memo is shown with what its input says", () =>
  connected(async (temporal) => {
    await plant("bare", {});
    const payment = { amount: "20.00", currency: "EUR", payee: "b-1" };
    expect((await reportRun(temporal, "bare")).payment).toEqual(payment);
    expect((await listed(temporal, "bare")).payment).toEqual(payment);
  }));

it("what a batch pays is what its input says, whatever its memo does", () =>
  connected(async (temporal) => {
    const memo = { rows: 1, totals: { EUR: "1.00" }, file: "small.csv" };
    await plant("payouts/forged", memo, WORKFLOW.payoutBatch);
    const truth = { rows: 2, totals: { EUR: "9000.00" }, file: null };
    expect(await listed(temporal, "payouts/forged")).toMatchObject({ payouts: truth });
    for await (const batch of listBatches(temporal)) expect(batch).toMatchObject(truth);
    expect(await reportBatch(temporal, "payouts/forged")).toMatchObject(truth);
  }));

it("a memo that cannot be decoded hides neither its run nor another one", () =>
  connected(async (temporal) => {
    await plantRaw(temporal, "foreign");
    const payment = { amount: "20.00", currency: "EUR", payee: "b-1" };
    expect(await listed(temporal, "foreign")).toMatchObject({ payment, startedBy: "Ada" });
    expect(await listed(temporal, "forged")).toMatchObject({ payment });
    expect(await reportRun(temporal, "foreign")).toMatchObject({ payment, startedBy: "Ada" });
    expect((await auditRun(temporal, "foreign")).entries).toMatchObject([{ who: "Ada" }]);
  }));

it("an input that cannot be decoded hides neither its run nor another one", () =>
  connected(async (temporal) => {
    await plantRaw(temporal, "unknown-input", { input: UNREADABLE.encrypted });
    await plantRaw(temporal, "payouts/unknown", {
      input: UNREADABLE.malformed,
      type: WORKFLOW.payoutBatch,
    });
    expect(await listed(temporal, "unknown-input")).toMatchObject({ payment: null });
    expect(await listed(temporal, "payouts/unknown")).toMatchObject({ payouts: null });
    expect(await reportRun(temporal, "unknown-input")).toMatchObject({
      payment: null,
      startedBy: "Ada",
      state: "running",
    });
    await workflow.getHandle("unknown-input").terminate();
    expect(await reportRun(temporal, "unknown-input")).toMatchObject({
      state: "terminated",
      payment: null,
      stepsFrom: "history",
    });
    expect(await reportRun(temporal, "payouts/unknown")).toMatchObject({ state: "running" });
  }));

it("memos of two megabytes, the longest that Temporal takes, end no list", () =>
  connected(async (temporal) => {
    const ids = ["huge-1", "huge-2", "huge-3"];
    await Promise.all(ids.map((id) => plant(id, { startedBy: "x".repeat(1_900_000) })));
    for (const id of ids) expect(await listed(temporal, id)).toMatchObject({ workflowId: id });
  }));
