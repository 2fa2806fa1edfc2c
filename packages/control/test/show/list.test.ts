import { openLedger, type WriteRow } from "@durable-payments/ledger";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Operations } from "../../src/facts/connection/operations.ts";
import { listRuns, readStatuses, visibilityQuery } from "../../src/views/list.ts";
import { readRun } from "../../src/views/run.ts";
import { ACCOUNT, put, question, row } from "../support/rows.ts";
import { failureOf, TemporalStub, timestamp } from "../support/temporal-stub.ts";

const ledger = await openLedger("memory");
const NEXT = Math.floor(Date.now() / 1000) * 1000 + 3_600_000;

const connected = await TemporalStub.connect([
  {
    workflowId: "waits",
    pending: [
      {
        activityId: "1",
        activityType: { name: "createPayout" },
        attempt: 2,
        lastFailure: failureOf("The service cannot be reached.", "NotYet"),
        nextAttemptScheduleTime: timestamp(NEXT),
      },
    ],
  },
  { workflowId: "asks" },
  {
    workflowId: "sleeps",
    events: [
      {
        eventId: 5 as never,
        eventTime: timestamp(Date.now()),
        timerStartedEventAttributes: { timerId: "1", startToFireTimeout: timestamp(3_600_000) },
      },
    ],
  },
  {
    workflowId: "failed",
    status: "FAILED",
    startedAt: 5,
    closedAt: 10,
    events: [
      {
        eventId: 9 as never,
        eventTime: timestamp(10),
        workflowExecutionFailedEventAttributes: {
          failure: failureOf("The account is closed.", "Refused"),
        },
      },
    ],
  },
  { workflowId: "no-payment", type: "backup" },
  { workflowId: "stopped", status: "CANCELED", closedAt: 10 },
]);

const operations: Operations = {
  ...connected.temporal,
  ledger,
  namespace: "default",
  taskQueue: "payments",
  account: ACCOUNT,
  accounts: [
    {
      name: undefined,
      hash: ACCOUNT,
    },
  ],
};

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await ledger.close();
});

/** One of two payouts of a run whose start names no payment. */
const half = (workflowId: string, more: Partial<WriteRow>) =>
  row({ workflowId, ...more, request: { ...row().request, amount: "125.00" } });

beforeAll(async () => {
  await put(ledger, row({ workflowId: "asks", state: "asking", doubt: 1, question: question() }));
  await put(ledger, row({ workflowId: "failed", state: "refused", message: "closed" }));
  await put(ledger, half("stopped", { step: "deposit", state: "done", madeId: "po-8" }));
  await ledger.decide({
    account: ACCOUNT,
    workflowId: "stopped",
    step: null,
    kind: "end",
    question: null,
    by: "ada",
    how: "--by",
    reason: "withdrawn",
    value: {},
  });
  await put(ledger, half("stopped", { step: "balance" }));
  await put(ledger, row({ workflowId: "paid", state: "done", madeId: "po-7", knownBy: "answer" }));
});

it("lists payments, each with the reason why it is in its state", async () => {
  const { isMore, runs } = await listRuns(operations, { limit: 50 });
  expect(isMore).toBe(false);
  expect(runs.map(({ workflowId }) => workflowId)).toEqual([
    "waits",
    "asks",
    "sleeps",
    "failed",
    "stopped",
  ]);
  const [waits, asks, sleeps, failed] = runs;
  expect(waits?.reason).toMatch(/^createPayout: The service cannot be reached; tries again at/);
  expect(asks).toMatchObject({ statuses: ["asking", "unknown", "running"], amount: "250.00" });
  expect(sleeps?.reason).toMatch(/^sleeping until /);
  expect(failed).toMatchObject({ state: "failed", reason: "The account is closed", endedAt: 10 });
});

it.each([
  [["failed"], ["failed"]],
  [["asking"], ["asks"]],
  [["waiting"], ["waits", "sleeps", "stopped"]],
  [
    ["unknown", "failed"],
    ["asks", "failed"],
  ],
  [["ended"], []],
  [["timedOut"], []],
] as const)("finds runs by their status: %s", async (statuses, ids) => {
  const { runs } = await listRuns(operations, { statuses, limit: 50 });
  expect(runs.map(({ workflowId }) => workflowId)).toEqual(ids);
});

it("adds up the writes of a run, and says which of them have succeeded", async () => {
  const { runs } = await listRuns(operations, { find: "stopped", limit: 5 });
  expect(runs[0]).toMatchObject({
    // Its payout is under way, whatever became of its run.
    statuses: ["waiting"],
    amount: "250.00",
    payee: "b-1",
    money: [{ currency: "EUR", amount: "250.00" }],
    succeeded: [],
  });
});

it("says when there are more than the limit", async () => {
  const { isMore, runs } = await listRuns(operations, { limit: 1 });
  expect({ isMore, count: runs.length }).toEqual({ isMore: true, count: 1 });
});

it("finds the run by the id of what it made, though Temporal has forgotten it", async () => {
  const { runs } = await listRuns(operations, { find: "po-7", limit: 5 });
  expect(runs[0]).toMatchObject({ workflowId: "paid", state: null, amount: "250.00" });
});

it("refuses a status that does not exist", () => {
  expect(readStatuses("failed, asking")).toEqual(["failed", "asking"]);
  expect(() => readStatuses("doubtful")).toThrow('There is no status "doubtful"');
});

it("queries built-in attributes alone", () => {
  expect(visibilityQuery({ statuses: ["waiting", "failed"], since: 0, find: "inv" })).toBe(
    'ExecutionStatus != "ContinuedAsNew" AND WorkflowType NOT IN ("tracker", "notifier", "checkWorker", "payoutBatch") AND (CloseTime IS NULL OR ExecutionStatus IN ("Failed", "TimedOut", "Terminated")) AND StartTime >= "1970-01-01T00:00:00.000Z" AND WorkflowId STARTS_WITH "inv"',
  );
});

it("offers the dry run and the retry of what failed, bound to the run that was seen", async () => {
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "failed");
  expect(run.failure).toEqual({ type: "Refused", message: "The account is closed." });
  expect(run.webUi).toBe("http://localhost:8233/namespaces/default/workflows/failed/failed-run");
  expect(run.next).toEqual([
    { operation: "retry", workflowId: "failed", isDryRun: true },
    { operation: "retry", workflowId: "failed", ifRun: "failed-run" },
    { operation: "show", workflowId: "failed", isLog: true },
  ]);
});

it("says that no worker polls", async () => {
  connected.stub.pollers = 0;
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "asks");
  expect(run.notes).toEqual(['No worker polls task queue "payments" in namespace "default".']);
  connected.stub.pollers = 1;
});
