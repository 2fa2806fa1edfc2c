// The outcome of a row is the status of its run in the ledger, in which its payout comes first. Temporal's status says how its
// workflow ended, which may be without a payout, or by a cancellation after it.
import {
  type Batch,
  type BatchRowState,
  type Ledger,
  openLedger,
  type RunEnd,
  type RunStatus,
  type WriteRow,
} from "@durable-payments/ledger";
import { createClient } from "@durable-payments/client";
import { fingerprintOf, requestTerms } from "@durable-payments/protocol";
import { describeAccount, UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { failureTypes, type FileRow } from "@durable-payments/protocol/calls";
import { startSimulator } from "@durable-payments/simulator";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import {
  type Client,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
} from "@temporalio/client";
import { defaultDataConverter, defaultPayloadConverter } from "@temporalio/common";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { makeBatchActivities } from "../src/start-rows.ts";
import type { PaymentsRuntime } from "../src/run-operation.ts";
import { attempt, failureOf, runtimeOver } from "./support/attempts.ts";
import { beneficiary } from "./support/bodies.ts";
import { outageBefore } from "./support/failing-service.ts";
import { ACCOUNT, putRow } from "./support/rows.ts";

const BATCH = "payouts/4d34";

let ledger: Ledger;
beforeEach(async () => {
  ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
});

/** Temporal refuses a start, by default because it never takes it. */
const refusal = (code = 3, details = "Blob data size exceeds limit.") =>
  new ServiceError("Failed to start Workflow", {
    cause: Object.assign(new Error(details), { code, details, metadata: {} }),
  });

interface DescribedRun {
  readonly execution: { readonly workflowId: string };
}

const memoOf = (batch: string) => ({
  "durable-payments/batch": defaultPayloadConverter.toPayload(batch),
});

/** A client with runs of these ids, each with a memo; it refuses to start one of a known id. */
const clientOf = (
  runs: Readonly<Record<string, object>> = {},
  refused: ReadonlyArray<string> = [],
  refuse = refusal,
) => {
  const started: Array<string> = [];
  const describeWorkflowExecution = async ({ execution }: DescribedRun) => ({
    workflowExecutionInfo: { execution, memo: { fields: runs[execution.workflowId] } },
  });
  const start = async (type: string, { workflowId }: { readonly workflowId: string }) => {
    started.push(workflowId);
    if (refused.includes(workflowId)) throw refuse();
    if (workflowId in runs)
      throw new WorkflowExecutionAlreadyStartedError("known", workflowId, type);
  };
  // Of a client, only these are asked for.
  const withAbortSignal = <A>(_: AbortSignal, work: () => A): A => work();
  return {
    started,
    client: {
      options: { namespace: "default", loadedDataConverter: defaultDataConverter },
      workflow: { start },
      workflowService: { describeWorkflowExecution },
      withAbortSignal,
    } as unknown as Client,
  };
};

/** Records how the run of the first row has ended, as the tracker does. */
const ended = (end: Pick<RunEnd, "endState"> & Partial<RunEnd>, workflowId = "payout/1") =>
  ledger.recordEnds([
    { workflowId, runId: "1", endedAt: 1, endType: null, endReason: null, ...end },
  ]);

const inputOf = (number: number) => ({
  number,
  workflowId: `payout/${number}`,
  input: {
    beneficiary_id: "b-1",
    payout: {
      amount: "10.00",
      currency: "EUR",
      payout_reason: "Goods",
      payout_reference: `Invoice ${number}`,
      payment_date: "2026-12-01",
      is_payer: "Y" as const,
    },
  },
});

const upload = async (
  id: string,
  states: ReadonlyArray<BatchRowState>,
  state: Batch["state"] = "approved",
  payees: ReadonlyArray<string> = [],
): Promise<void> => {
  await ledger.saveBatch(id, () => ({
    batch: {
      id,
      account: ACCOUNT,
      type: "payout",
      file: "november.csv",
      contentHash: "c",
      rows: states.length,
      state,
      createdBy: "ada",
      createdAt: 0,
      approvedBy: null,
      details: "{}",
      chunks: 1,
    },
  }));
  await ledger.saveRows(
    id,
    states.map((state, at) => ({
      number: at + 1,
      workflowId: `payout/${at + 1}`,
      fingerprint: fingerprintOf(`${at + 1}`, inputOf(at + 1).input),
      amount: "10.00",
      currency: "EUR",
      reference: null,
      payee: payees[at] ?? "b-1",
      terms: requestTerms("createPayout", inputOf(at + 1).input.payout),
      mark: null,
      shown: null,
      state,
      message: null,
    })),
  );
  for (const at of states.keys())
    await ledger.recordStart(
      {
        account: ACCOUNT,
        workflowId: `payout/${at + 1}`,
        runId: null,
        type: "payout",
        batch: id,
        batchRow: at + 1,
        amount: "10.00",
        currency: "EUR",
        payee: payees[at] ?? "b-1",
        reference: null,
      },
      { by: "ada", how: "test", value: { type: "payout", content: `${at}` } },
    );
};

/** No payee is read. */
const offline = () => runtimeOver({ url: "http://127.0.0.1:9", clientId: "c", apiKey: "k" });

const look = (
  client: Client,
  rows: ReadonlyArray<FileRow> = [inputOf(1)],
  runtime: PaymentsRuntime = offline(),
  batch = BATCH,
) => {
  const { startRows } = makeBatchActivities({ ledger, runtime, taskQueue: "payments" });
  return attempt({}, client).run(startRows, { batch, startedBy: "ada", window: 9, rows });
};

const outcome = async () => {
  const [row] = await ledger.listRows(BATCH, { limit: 1 });
  return { status: row?.status, reason: row?.reason };
};

const payout = (changes: Partial<WriteRow>) =>
  putRow(ledger, { workflowId: "payout/1", state: "done", madeId: "p-1", doubt: 0, ...changes });

const saw = (outcome: "completed" | "failed" | null, word = outcome ?? "processing") =>
  ledger.sawPayout(ACCOUNT, "p-1", { word, outcome, asks: false, problem: null });

const completed = { endState: "succeeded" } as const;
const cancelled = { endState: "cancelled", endReason: "Workflow canceled" } as const;
const failed = (endType: string, endReason: string) =>
  ({ endState: "failed", endType, endReason }) as const;

it.each<
  [
    string,
    Parameters<typeof ended>[0],
    RunStatus,
    string | null,
    Partial<WriteRow>?,
    ("completed" | "failed")?,
  ]
>([
  ["a completed run with its payout", completed, "succeeded", null, {}, "completed"],
  ["a completed run without a payout", completed, "failed", null],
  [
    "a completed run whose payout was refused",
    completed,
    "failed",
    null,
    { state: "refused", madeId: null },
  ],
  [
    "a run whose wait was completed by hand, though the payout has failed",
    completed,
    "failed",
    'its payout has failed: the service says "failed"',
    {},
    "failed",
  ],
  [
    "a cancelled run whose payout has completed",
    cancelled,
    "succeeded",
    "Workflow canceled",
    {},
    "completed",
  ],
  ["a cancelled run without a payout", cancelled, "cancelled", "Workflow canceled"],
  [
    "a payout that has failed",
    failed(failureTypes.payoutFailed, "The payout is returned."),
    "failed",
    'its payout has failed: the service says "failed"',
    {},
    "failed",
  ],
  [
    "a run that failed before it paid",
    failed("Refused", "No such payee."),
    "failed",
    "No such payee.",
  ],
])("the row of %s", async (_, run, status, reason, write?, seen?) => {
  await upload(BATCH, ["started"]);
  if (write !== undefined) await payout(write);
  if (seen !== undefined) await saw(seen);
  await ended(run);
  expect(await look(clientOf().client)).toEqual({ is: "done" });
  expect(await outcome()).toEqual({ status, reason });
  expect(await ledger.batch(BATCH)).toMatchObject({ state: "finished" });
});

it.each([
  ["is being uploaded", 0, "The file is being uploaded."],
  [
    "was uploaded only in part",
    3_600_000,
    "Give the same command again: it continues under the same id",
  ],
])("a file that %s says so, and starts no row", async (_, age, text) => {
  await upload(BATCH, ["waiting"], "uploading");
  const { client, started } = clientOf();
  const { startRows } = makeBatchActivities({ ledger, runtime: offline(), taskQueue: "payments" });
  const given = { startedBy: "ada", window: 9, rows: [inputOf(1)] };
  const info = { scheduledTimestampMs: Date.now() - age };
  for (const batch of [BATCH, "payouts/none"]) {
    const failing = attempt(info, client).run(startRows, { ...given, batch });
    expect((await failureOf(failing)).message).toContain(text);
  }
  expect(started).toEqual([]);
});

it("a file that is cancelled after its upload was interrupted ends, whatever was uploaded", async () => {
  await upload(BATCH, ["waiting"], "cancelled");
  await upload("payouts/none", [], "cancelled");
  const { client, started } = clientOf();
  for (const batch of [BATCH, "payouts/none"])
    expect(await look(client, [inputOf(1)], offline(), batch)).toEqual({ is: "done" });
  expect(started).toEqual([]);
});

it("a payout that is under way keeps its row open, although its run was cancelled", async () => {
  await upload(BATCH, ["started"]);
  await payout({});
  await ended(cancelled);
  const { client } = clientOf();
  expect((await failureOf(look(client))).message).toContain("1 run");
  expect(await outcome()).toMatchObject({ status: "waiting" });
  await saw("completed");
  expect(await look(client)).toEqual({ is: "done" });
  expect(await outcome()).toMatchObject({ status: "succeeded" });
});

it.each([
  ["sending", "unknown"],
  ["unknown", "unknown"],
  ["asking", "asking"],
] as const)(
  "a row whose payout is %s has no outcome yet, though its run has ended",
  async (state, status) => {
    await upload(BATCH, ["started"]);
    await payout({ state, madeId: null });
    await ended({ endState: "terminated" });
    const { client } = clientOf();
    expect((await failureOf(look(client))).message).toContain("1 run");
    expect(await outcome()).toMatchObject({ status });
  },
);

it("a row that an earlier file has started is not rejected: it belongs to that file", async () => {
  await upload("payouts/first", ["started"]);
  await upload(BATCH, ["waiting"]);
  const memo = memoOf("payouts/first");
  const { client } = clientOf({ "payout/1": memo });
  expect(await look(client)).toEqual({ is: "done" });
  expect(await outcome()).toEqual({ status: "covered", reason: "Already in payouts/first." });
});

it.each([
  ["names a file without this row", memoOf("payouts/forged")],
  [
    "nobody can decode",
    { "durable-payments/batch": { metadata: { encoding: Buffer.from("binary/none") } } },
  ],
])("a memo that %s does not keep the row from being followed", async (_, memo) => {
  await upload(BATCH, ["waiting"]);
  const { client, started } = clientOf({ "payout/1": memo });
  expect((await failureOf(look(client))).message).toContain("1 run");
  expect(started).toEqual(["payout/1"]);
  await payout({});
  await saw("completed");
  await ended(completed);
  expect(await look(client)).toEqual({ is: "done" });
  expect(await outcome()).toMatchObject({ status: "succeeded" });
});

it.each([
  ["another amount", { ...inputOf(1).input.payout, amount: "99.00" }, "b-1"],
  ["another payee", inputOf(1).input.payout, "b-2"],
])("a workflow with %s than the file starts no row", async (_, payout, beneficiary_id) => {
  await upload(BATCH, ["started"]);
  const { client, started } = clientOf();
  await failureOf(look(client, [{ ...inputOf(1), input: { beneficiary_id, payout } }]));
  expect(started).toEqual([]);
  await look(client, [inputOf(1)]).catch(() => undefined);
  expect(started).toEqual(["payout/1"]);
});

it.each([
  ["another person", { date_birth: "1991-01-01" }],
  ["another address", { delivery_address: "Elsewhere 1" }],
])("a workflow with %s than the file onboards nobody", async (_, other) => {
  const { card, cardholder } = inputs;
  await upload(BATCH, ["started"]);
  const row = { number: 1, workflowId: "payout/1", input: { cardholder, card } };
  const fingerprint = fingerprintOf("1", row.input);
  const own = "onboardings/4d34";
  await upload(own, []);
  const [first] = await ledger.batchRows(BATCH);
  if (first) await ledger.saveRows(own, [{ ...first, fingerprint }]);
  const { client, started } = clientOf();
  const changed = { ...row, input: { card, cardholder: { ...cardholder, ...other } } };
  await failureOf(look(client, [changed], offline(), own));
  expect(started).toEqual([]);
  await look(client, [row], offline(), own).catch(() => undefined);
  expect(started).toEqual(["payout/1"]);
});

it("a file waits for its approval once the payees of its rows are read, and for the service until then", async () => {
  const simulator = await startSimulator();
  onTestFinished(() => simulator.stop());
  const { apiKey, clientId, url } = simulator;
  const service = createClient({ baseUrl: url, clientId, apiKey });
  const { beneficiary_id } = await service.createBeneficiary(beneficiary);
  await service.close();
  const payees = [beneficiary_id, "b-unknown", beneficiary_id];
  await upload(BATCH, ["waiting", "waiting", "waiting", "covered"], "reading", payees);
  const outage = await outageBefore(simulator);
  const { client, started } = clientOf();
  const rows = [1, 2, 3].map(inputOf);
  const runtime = runtimeOver({ ...simulator, url: outage.url });
  await outage.set("503");
  expect((await failureOf(look(client, rows, runtime))).message).toMatch(
    /^The payees cannot be read:/,
  );
  expect(await ledger.batch(BATCH)).toMatchObject({ state: "reading" });
  expect((await outcome()).reason).toContain("The payees cannot be read");
  await outage.set("up");
  expect(await look(client, rows, runtime)).toEqual({
    is: "waiting",
    why: "The batch is waiting for approval by a second person.",
  });
  expect(started).toEqual([]);
  const known = describeAccount(beneficiary, ledger.keyed);
  expect(await ledger.payees()).toMatchObject([{ payee: beneficiary_id, ...known }]);
  expect(await ledger.batchRows(BATCH, { limit: 9 })).toMatchObject([
    known,
    UNKNOWN_PAYEE,
    known,
    { state: "covered", mark: null, shown: null },
  ]);
});

it("the payees of one part of a file are read without those of another", async () => {
  await upload(BATCH, ["waiting", "waiting"], "reading");
  await ledger.keepPayees(BATCH, [1], { mark: "m", shown: "Ltd" });
  expect(await look(clientOf().client)).toEqual({
    is: "waiting",
    why: "The payees of other rows of the batch are being read.",
  });
});

it("a taken row without a run is started, and one whose run is lost again, unless its payment was amended", async () => {
  await upload(BATCH, ["started", "started", "started", "started"]);
  const actor = { by: "bob", how: "--by", reason: "typo", value: {} };
  const on = { account: ACCOUNT, workflowId: "payout/2", step: null, question: null };
  await ledger.decide({ ...actor, ...on, kind: "amend" });
  for (const lost of ["payout/1", "payout/2"]) await ended({ endState: "missing" }, lost);
  await ended({ endState: null }, "payout/3");
  const { client, started } = clientOf();
  await expect(look(client, [1, 2, 3, 4].map(inputOf))).rejects.toThrow("4 runs are open");
  expect(started).toEqual(["payout/1", "payout/4"]);
});

it("a row that Temporal always refuses says why, and delays no other row", async () => {
  await upload(BATCH, ["started", "waiting", "waiting"]);
  const { client, started } = clientOf({}, ["payout/1", "payout/2"]);
  await expect(look(client, [1, 2, 3].map(inputOf))).rejects.toThrow("1 run is open.");
  expect(started).toEqual(["payout/1", "payout/2", "payout/3"]);
  const rows = await ledger.listRows(BATCH);
  const refused = { status: "rejected", reason: expect.stringContaining("Blob data size") };
  expect(rows).toMatchObject([refused, refused, { status: "running" }]);
  // Nothing will be paid for them.
  expect(await ledger.runs({ workflowIds: ["payout/1"] })).toMatchObject([
    { status: "cancelled", planned: "stopped" },
  ]);
  await ended(completed, "payout/3");
  expect(await look(client, [1, 2, 3].map(inputOf))).toEqual({ is: "done" });
});

it.each([
  ["a namespace that fails over", 9, "Namespace: payments is active in cluster: b."],
  ["a namespace that is not found", 5, "Namespace payments is not found."],
])("%s rejects no row: its start is tried again", async (_, code, details) => {
  await upload(BATCH, ["waiting"]);
  const refusing = clientOf({}, ["payout/1"], () => refusal(code, details));
  await expect(look(refusing.client, [inputOf(1)])).rejects.toThrow("Failed to start");
  expect(await ledger.listRows(BATCH)).toMatchObject([{ status: "running" }]);
  const { client, started } = clientOf();
  await expect(look(client, [inputOf(1)])).rejects.toThrow("1 run is open.");
  expect(started).toEqual(["payout/1"]);
});

it("a paused repair retries no row, also none that it had taken before", async () => {
  await upload(BATCH, ["started"]);
  await payout({ state: "refused", madeId: null });
  await ended(failed("Refused", "No such payee."));
  const id = "repairs/1";
  await upload(id, []);
  const row = { ...inputOf(1), fingerprint: "f", terms: "", mark: null, shown: "as it was" };
  const money = { amount: "10.00", currency: "EUR", payee: "b-1", reference: null };
  const [run] = await ledger.runs({ workflowIds: ["payout/1"] });
  const of = { run: run?.runId ?? "", repair: {}, state: "started", message: null } as const;
  await ledger.saveRows(id, [{ ...row, ...money, ...of }]);
  const asked: Array<string> = [];
  const describeWorkflowExecution = async ({ execution }: DescribedRun) => {
    asked.push(execution.workflowId);
    throw new Error("away");
  };
  const { client } = clientOf();
  Object.assign(client.workflowService, { describeWorkflowExecution });
  const { startRows } = makeBatchActivities({ ledger, runtime: offline(), taskQueue: "payments" });
  const rows = [{ number: 1, workflowId: "payout/1", run: of.run }];
  const lookAt = () =>
    attempt({}, client).run(startRows, { batch: id, startedBy: "ada", window: 9, rows });
  const actor = { by: "ada", how: "--by", reason: "look first" };
  await ledger.pause("batch", id, actor);
  await failureOf(lookAt());
  expect(asked).toEqual([]);
  await ledger.resume("batch", id, actor);
  await expect(lookAt()).rejects.toThrow("away");
  expect(asked).toEqual(["payout/1"]);
});
