import { type BatchRowState, type NewRun, openLedger } from "@durable-payments/ledger";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { expect, test } from "vitest";
import { recover } from "../../src/actions/recovery.ts";
import { ACCOUNT, put, row } from "../support/rows.ts";
import { operationsOn } from "../support/stub-client.ts";
import { payloadOf } from "../support/temporal-stub.ts";

const STARTED = { type: "payout", content: "c" };
const SEEN = { word: "completed", outcome: null, asks: false, problem: null };
const NOTHING = { amount: null, currency: null, payee: null, reference: null };

const runOf = (workflowId: string, more: Partial<NewRun> = {}): NewRun => ({
  ...NOTHING,
  account: ACCOUNT,
  workflowId,
  runId: null,
  type: "payout",
  batch: null,
  batchRow: null,
  ...more,
});

const batchOf = ({ chunks, file, id }: { id: string; file: string; chunks: number }) => ({
  id,
  account: ACCOUNT,
  type: "payout",
  file,
  contentHash: "h",
  rows: 4,
  state: "approved" as const,
  createdBy: "ada",
  createdAt: 0,
  approvedBy: null,
  details: "{}",
  chunks,
});

const batchRowOf = (number: number, workflowId: string, state: BatchRowState) => ({
  ...NOTHING,
  number,
  workflowId,
  fingerprint: workflowId,
  terms: "t",
  mark: null,
  shown: null,
  message: null,
  state,
});

const bob = { by: "Bob", how: "--by", reason: "restored" };
const dry = { ...bob, isDryRun: true };
const activity = (name: string, activityId: string, taskQueue = "payments") => ({
  activityId,
  activityType: { name },
  activityOptions: { taskQueue: { name: taskQueue } },
});

test("recover nudges who waits, also a run whose row the restore has lost", async () => {
  const ledger = await openLedger("memory");
  await put(ledger, row({ workflowId: "has-a-row" }));
  const { asked, operations } = operationsOn(ledger, "taken", {
    "lost-its-row": [],
    "lost-its-row-and-waits": [activity("awaitPayout", "awaitPayout:p-1")],
    "has-a-row": [activity("createPayout", "1")],
    "is-under-way": [activity("createPayout", "1")],
  });
  const nudged = () => asked.signals.map(([workflowId]) => workflowId);
  await recover(operations, { ...bob, isDryRun: true });
  expect(nudged()).toEqual([]);
  expect(await recover(operations, { ...bob, isDryRun: false })).toMatchObject({ waits: 1 });
  expect(nudged().toSorted()).toEqual(["lost-its-row", "lost-its-row-and-waits"]);
  // By the tracker.
  expect(await ledger.rows({ mustNotify: true })).toMatchObject([{ workflowId: "has-a-row" }]);
});

test("a wait that a lost ledger has forgotten is recorded for the account whose queue it has", async () => {
  const ledger = await openLedger("memory");
  const { operations } = operationsOn(ledger, "taken", {
    home: [activity("awaitPayout", "awaitPayout:p-1")],
    "of-eu": [activity("awaitPayout", "awaitPayout:p-2", "payments@eu")],
    "of-eu-in-a-file": [activity("awaitPayout", "awaitPayout:p-3", "payments/batch@eu")],
  });
  const accounts = [...operations.accounts, { name: "eu", hash: "hash-of-eu" }];
  await recover({ ...operations, accounts }, { ...bob, isDryRun: false });
  const waits = await ledger.waits({ isOpen: true });
  expect(Object.fromEntries(waits.map(({ account, thing }) => [thing, account]))).toEqual({
    "p-1": ACCOUNT,
    "p-2": "hash-of-eu",
    "p-3": "hash-of-eu",
  });
});

const ended = {
  runId: null,
  endState: "failed",
  endedAt: 1,
  endType: null,
  endReason: null,
} as const;

test("names what is unfinished and nothing else, with what continues it", async () => {
  const ledger = await openLedger("memory");
  const file = { id: "payouts/1", file: "november.csv", chunks: 1 };
  const { operations } = operationsOn(ledger, "taken", { "payout/here": [] });
  const start = (workflowId: string, more: Partial<NewRun> = {}) =>
    ledger.recordStart(runOf(workflowId, more), { by: "ada", how: "--by", value: STARTED });
  await ledger.saveBatch(file.id, () => ({ batch: batchOf(file) }));
  const rowsOf = ["payout/made", "payout/started", "payout/waiting", "payout/rejected"];
  const states = ["started", "started", "waiting", "rejected"] as const;
  await ledger.saveRows(
    file.id,
    rowsOf.map((workflowId, at) => batchRowOf(at + 1, workflowId, states[at] ?? "waiting")),
  );
  for (const [at, workflowId] of rowsOf.entries())
    await start(workflowId, { batch: file.id, batchRow: at + 1 });
  await put(ledger, row({ workflowId: "payout/made", state: "done", madeId: "P-1" }));
  const amended = { account: ACCOUNT, workflowId: "payout/amended", step: null, question: null };
  await ledger.saveRows(file.id, [batchRowOf(5, "payout/amended", "started")]);
  await start("payout/amended", { batch: file.id, batchRow: 5 });
  const amend = { kind: "amend", by: "bob", how: "--by", reason: "typo", value: {} } as const;
  await ledger.decide({ ...amended, ...amend });
  await start("payout/here");
  await start("payout/single");
  await put(ledger, row({ workflowId: "payout/unknown", state: "unknown", doubt: 1 }));
  await put(ledger, row({ workflowId: "payout/paid", state: "done", madeId: "P-2" }));
  await ledger.sawPayout(ACCOUNT, "P-2", { ...SEEN, outcome: "completed" });
  await start("payout/failed");
  await ledger.recordEnds([{ ...ended, workflowId: "payout/failed" }]);
  await put(ledger, row({ workflowId: "payout/stopped" }));
  const end = { account: ACCOUNT, workflowId: "payout/stopped", step: null, question: null };
  await ledger.decide({ ...end, kind: "end", by: "bob", how: "--by", reason: "fraud", value: {} });
  await start("onboarding-1", { type: "onboardCardholder" });
  await start("order-1", { type: "payOrder" });
  const child = { workflowId: "order-2/child", ownerId: "order-2/child", rootId: "order-2" };
  await put(ledger, row({ ...child, state: "done", madeId: "P-3" }));
  // No file has the rows of a repair, and the same retry again would be the same repair.
  const repair = { id: "repairs/1", file: "failed runs", chunks: 1 };
  await ledger.saveBatch(repair.id, () => ({ batch: { ...batchOf(repair), type: "repair" } }));
  await ledger.saveRows(repair.id, [
    { ...batchRowOf(1, "payout/failed", "waiting"), run: "run-1" },
  ]);
  const named = {
    files: [{ id: "payouts/1", file: "november.csv", rows: 2 }],
    repairs: [{ id: "repairs/1", rows: 1 }],
    followed: 2,
    unfinished: [
      { workflowId: "onboarding-1", type: "onboardCardholder" },
      { workflowId: "order-1", type: "payOrder" },
      { workflowId: "payout/amended", type: "payout" },
      { workflowId: "payout/single", type: "payout" },
      { workflowId: "payout/unknown", type: "payout" },
    ],
  };
  expect(await recover(operations, dry)).toMatchObject(named);
  expect(await recover(operations, { ...bob, isDryRun: false })).toMatchObject(named);
  const all = await ledger.runs({ limit: 100 });
  expect(
    Object.fromEntries(all.map(({ status, workflowId }) => [workflowId, status])),
  ).toMatchObject({
    "payout/made": "waiting",
    "payout/started": "missing",
    "payout/waiting": "running",
    "payout/here": "running",
    "payout/paid": "succeeded",
    "payout/failed": "failed",
    "payout/stopped": "ended",
    "order-1": "missing",
  });
});

const payload = (value: unknown) => ({ payloads: [payloadOf(value)] });

test("takes up runs and writes that only Temporal's history proves, and says each once", async () => {
  const ledger = await openLedger("memory");
  const input = { beneficiary_id: "b-1", payout: { ...inputs.payout, payout_reference: "Inv 7" } };
  const request = { ...input.payout, beneficiary_id: "b-1" };
  const call = { step: "createPayout", rootId: "payout/7", runId: "r", call: 1, isFirst: true };
  const given = { ...call, isContinued: false, isNamed: false, request };
  const made = { payout_id: "P-7", unique_request_id: "other" };
  const events = [
    {
      eventId: 1,
      eventTime: { seconds: 1_700_000_000, nanos: 0 },
      workflowExecutionStartedEventAttributes: { input: payload(input) },
    },
    {
      eventId: 2,
      activityTaskScheduledEventAttributes: {
        activityType: { name: "createPayout" },
        taskQueue: { name: "payments@eu" },
        input: payload(given),
      },
    },
    {
      eventId: 3,
      eventTime: { seconds: 1_700_000_100, nanos: 0 },
      activityTaskCompletedEventAttributes: {
        scheduledEventId: 2,
        result: payload({ is: "done", made }),
      },
    },
  ];
  const waits = [activity("awaitPayout", "awaitPayout:P-7", "payments@eu")];
  const stub = operationsOn(ledger, "taken", { "payout/7": waits }, { "payout/7": events });
  const accounts = [...stub.operations.accounts, { name: "eu", hash: "hash-of-eu" }];
  const operations = { ...stub.operations, accounts };
  expect(await recover(operations, dry)).toMatchObject({
    taken: { runs: ["payout/7"], writes: 1 },
  });
  expect(await ledger.runs({})).toEqual([]);
  const recovered = await recover(operations, { ...bob, isDryRun: false });
  expect(recovered).toMatchObject({
    taken: { runs: ["payout/7"], writes: 1, others: [] },
    waits: 1,
  });
  expect(await ledger.rowsOf("payout/7")).toMatchObject([
    {
      account: "hash-of-eu",
      state: "done",
      standing: "made",
      madeId: "P-7",
      request: { amount: request.amount, currency: request.currency, payee: "b-1" },
      createdAt: 1_700_000_100_000,
    },
  ]);
  expect(await ledger.runs({})).toMatchObject([
    { workflowId: "payout/7", startedBy: null, status: "waiting", reference: "Inv 7" },
  ]);
  expect(await ledger.decisionsOf("payout/7")).toEqual([]);
  expect(await recover(operations, dry)).toMatchObject({ taken: { runs: [], writes: 0 } });
});

test("takes up a run that pays by a key without a payment of its own: another run may have made it", async () => {
  const ledger = await openLedger("memory");
  const input = { beneficiary_id: "b-1", payout: inputs.payout, key: "2026-05 Ada" };
  const events = [
    { eventId: 1, workflowExecutionStartedEventAttributes: { input: payload(input) } },
  ];
  const wait = [activity("awaitPayout", "awaitPayout:P-7")];
  const { operations } = operationsOn(ledger, "taken", { "run-7": wait }, { "run-7": events });
  await recover(operations, { ...bob, isDryRun: false });
  expect(await ledger.runs({})).toMatchObject([{ workflowId: "run-7", amount: null, payee: null }]);
});

test("a run whose start named no account gets that which pays, so that what it sent is checked", async () => {
  let now = 1_000;
  const ledger = await openLedger("memory", { clock: () => now });
  const input = { beneficiary_id: "b-1", payout: inputs.payout };
  const started = {
    eventId: 1,
    workflowExecutionStartedEventAttributes: { input: payload(input) },
  };
  const { operations } = operationsOn(
    ledger,
    "taken",
    { "run-7": [activity("createPayout", "createPayout")] },
    { "run-7": [started] },
  );
  await ledger.recordStart(runOf("run-7", { account: null, amount: "250.00", currency: "EUR" }), {
    by: "ada",
    how: "--by",
    value: { type: "payout", content: "c", firstRunId: "r" },
  });
  now += 1;
  await recover(operations, { ...bob, isDryRun: false });
  now += 1;
  const end = { endState: "terminated", endedAt: now, endType: null, endReason: null } as const;
  await ledger.recordEnds([{ workflowId: "run-7", runId: null, ...end }]);
  expect(await ledger.forgottenRuns(operations.account, 9)).toMatchObject([
    { workflowId: "run-7", startedBy: "ada", status: "unknown" },
  ]);
});
