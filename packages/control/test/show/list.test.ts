import { defaultAssumptions } from "@durable-payments/client/effect";
import { openLedger, type WriteRow } from "@durable-payments/ledger";
import { failureTypes } from "@durable-payments/protocol/calls";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { Connected } from "../../src/facts/connection/connections.ts";
import { type ListFilter, type ListPage, listRuns, readStatuses } from "../../src/views/list.ts";
import { readOverview } from "../../src/views/overview.ts";
import { readReport } from "../../src/views/report.ts";
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
    workflowId: "elsewhere",
    pending: [
      {
        activityId: "1",
        activityType: { name: "createPayout" },
        activityOptions: { taskQueue: { name: "payments@nope" } },
        attempt: 1,
      },
    ],
  },
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

const operations: Connected = {
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
  assumptionsOf: () => defaultAssumptions,
};

afterAll(async () => {
  await connected[Symbol.asyncDispose]();
  await ledger.close();
});

/** One of two payouts of a run whose start names no payment. */
const half = (workflowId: string, more: Partial<WriteRow>) =>
  row({ workflowId, ...more, request: { ...row().request, amount: "125.00" } });

/** A start of a payout to an account. */
const start = (workflowId: string) =>
  ledger.recordStart(
    {
      account: ACCOUNT,
      workflowId,
      runId: null,
      type: "payout",
      batch: null,
      batchRow: null,
      amount: "250.00",
      currency: "EUR",
      payee: "mark-1",
      reference: null,
    },
    { by: "ada", how: "--by", value: { type: "payout", content: "c" } },
  );

beforeAll(async () => {
  await put(ledger, row({ workflowId: "asks", state: "asking", doubt: 1, question: question() }));
  await put(ledger, row({ workflowId: "failed", state: "refused", message: "closed" }));
  await put(ledger, half("stopped", { step: "deposit", state: "done", madeId: "po-8" }));
  await put(ledger, half("stopped", { step: "balance" }));
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
  for (const workflowId of ["waits", "sleeps"]) await start(workflowId);
  const ends = { runId: null, endedAt: 10 };
  await ledger.recordEnds([
    {
      ...ends,
      workflowId: "failed",
      endState: "failed",
      endType: "Refused",
      endReason: "The account is closed.",
    },
    { ...ends, workflowId: "stopped", endState: "cancelled", endType: null, endReason: null },
  ]);
  const shown = "Müster AG, CH, account ending in 2606";
  await ledger.rememberPayees(ACCOUNT, [
    { payee: "b-1", mark: "mark-1", shown },
    { payee: "mark-1", mark: "mark-1", shown },
  ]);
  await put(ledger, row({ workflowId: "paid", state: "done", madeId: "po-7", knownBy: "answer" }));
});

const idsOf = async (...[filter, page = { limit: 50 }]: [ListFilter, ListPage?]) =>
  (await listRuns(operations, filter, page)).runs.map(({ workflowId }) => workflowId);

it("lists payments from the ledger, each with the reason why it is in its state", async () => {
  const { next, notes, runs } = await listRuns(operations, {}, { limit: 50 });
  expect({ next, notes }).toEqual({ next: undefined, notes: [] });
  const byId = new Map(runs.map((run) => [run.workflowId, run]));
  expect([...byId.keys()].toSorted()).toEqual([
    "asks",
    "failed",
    "paid",
    "sleeps",
    "stopped",
    "waits",
  ]);
  expect(byId.get("waits")?.reason).toMatch(
    /^createPayout: The service cannot be reached; tries again at/,
  );
  expect(byId.get("sleeps")?.reason).toMatch(/^sleeping until /);
  expect(byId.get("asks")).toMatchObject({
    status: "asking",
    amount: "250.00",
    reason: "createPayout: The list shows two payouts that may be it",
  });
  expect(byId.get("failed")).toMatchObject({
    status: "failed",
    reason: "The account is closed",
    endedAt: 10,
  });
  expect(byId.get("stopped")?.reason).toMatch(
    /^stopped by ada: withdrawn; its payout was made and is under way$/,
  );
});

it("does not show the failure of a payout that a corrected word says is paid", async () => {
  const ledger = await openLedger("memory");
  const acting = { by: "ada", how: "--by", reason: "the service has said so" };
  const planned = { amount: "250.00", currency: "EUR", payee: "b-1", reference: null };
  const of = { account: ACCOUNT, runId: null, batch: null, batchRow: null, ...planned };
  for (const [workflowId, type] of [
    ["one", "payout"],
    ["own", "paySupplier"],
  ] as const) {
    await ledger.recordRun({ ...of, workflowId, type }, 1);
    await put(ledger, row({ workflowId, state: "done", madeId: `po-${workflowId}` }));
    await ledger.decideWord(ACCOUNT, "Odd", "failed", acting);
    const seen = { word: "Odd", outcome: "failed", asks: false, problem: null } as const;
    await ledger.sawPayout(ACCOUNT, `po-${workflowId}`, { ...seen, isDecided: true });
    const end = { endState: "failed", endType: failureTypes.payoutFailed, endedAt: 2 } as const;
    await ledger.recordEnds([
      { ...end, workflowId, runId: null, endReason: `Payout po-${workflowId} is "Odd".` },
    ]);
  }
  const shown = async () => {
    const { runs } = await listRuns({ ledger }, { error: "PayoutFailed" }, { limit: 9 });
    const { runs: odd } = await listRuns({ ledger }, { error: "odd" }, { limit: 9 });
    const sums = await ledger.sums({}, "reason");
    return [runs.length, odd.length, ...sums.map(({ key, payments }) => [key, payments])];
  };
  expect(await shown()).toEqual([2, 2, ['its payout has failed: the service says "Odd"', 2]]);
  await ledger.decideWord(ACCOUNT, "Odd", "completed", acting);
  // Under way again, until the tracker has read them.
  expect(await shown()).toEqual([0, 0]);
  for (const workflowId of ["one", "own"]) {
    const seen = { word: "Odd", outcome: "completed", asks: false, problem: null } as const;
    await ledger.sawPayout(ACCOUNT, `po-${workflowId}`, { ...seen, isDecided: true });
  }
  // The other workflow has failed all the same.
  expect(await shown()).toEqual([0, 0, [null, 1]]);
});

it.each([
  [{ statuses: ["failed"] }, ["failed"]],
  [{ statuses: ["asking", "failed"] }, ["asks", "failed"]],
  [{ statuses: ["timedOut"] }, []],
  [{ error: "closed" }, ["failed"]],
  [{ find: "po-7" }, ["paid"]],
  [{ find: "pa" }, ["paid"]],
  [{ payee: "2606" }, ["asks", "failed", "paid", "sleeps", "stopped", "waits"]],
  [{ payee: "muster" }, ["asks", "failed", "paid", "sleeps", "stopped", "waits"]],
  [{ payee: "Mu\u0308ster ag" }, ["asks", "failed", "paid", "sleeps", "stopped", "waits"]],
  [{ payee: "Nobody" }, []],
  [{ payee: "-" }, []],
] as const)("finds runs by %j", async (filter, ids) => {
  expect((await idsOf(filter)).toSorted()).toEqual(ids);
});

it("pages, and says when there are more", async () => {
  const first = await listRuns(operations, {}, { limit: 2 });
  const rest = await listRuns(operations, {}, { limit: 50, after: first.next });
  const ids = [...first.runs, ...rest.runs].map(({ workflowId }) => workflowId);
  expect(ids).toEqual(await idsOf({}));
  expect(first.runs).toHaveLength(2);
});

it("adds up the writes of a run, and says of each what has become of it", async () => {
  const { runs } = await listRuns(operations, { find: "stopped" }, { limit: 5 });
  expect(runs[0]).toMatchObject({
    amount: "250.00",
    payeeName: "Müster AG, CH",
    payments: expect.arrayContaining([
      expect.objectContaining({ amount: "125.00", state: "underWay", madeId: "po-8" }),
      expect.objectContaining({ amount: "125.00", state: "notPaid", payeeAccount: "2606" }),
    ]),
  });
});

it("is the same list without Temporal, and says what is unknown", async () => {
  const { runs: known } = await listRuns(operations, {}, { limit: 50 });
  const broken = { get: (): never => expect.fail("not reachable") };
  const client: typeof operations.client = Object.create(operations.client, {
    workflowService: broken,
  });
  const failing = { ...operations, client };
  const { notes, runs } = await listRuns(failing, {}, { limit: 50 });
  const facts = (some: typeof runs) => some.map(({ reason: _, ...fact }) => fact);
  expect(facts(runs)).toEqual(facts(known));
  expect(notes.join()).toMatch(/^The progress of open runs is unknown: /);
});

it("has one line for a payee, however it was paid", async () => {
  const { lines, totals } = await readReport(ledger, {}, "payee");
  expect(new Set(lines.map(({ account, key }) => `${key} ${account}`))).toEqual(
    new Set(["mark-1 2606"]),
  );
  const sums = (of: typeof lines) =>
    of.map(({ amount, payments, state }) => [state, payments, amount]);
  expect(sums(lines)).toEqual([
    ["underWay", 2, "375.00"],
    ["unknown", 1, "250.00"],
    ["notPaid", 2, "375.00"],
    ["planned", 2, "500.00"],
  ]);
  expect(sums(totals)).toEqual(sums(lines));
});

it("names the payments that count as paid with a status that no setting lists", async () => {
  const fresh = await openLedger("memory");
  onTestFinished(() => fresh.close());
  for (const madeId of ["p-1", "p-2"])
    await put(fresh, row({ workflowId: madeId, state: "done", madeId }));
  const seen = { asks: false, isUnlisted: false, problem: null } as const;
  for (const id of ["p-1", "p-2"])
    await fresh.sawPayout(ACCOUNT, id, { ...seen, word: "completed", outcome: "completed" });
  const odd = { ...seen, word: "Recalled", outcome: null, isUnlisted: true };
  await fresh.sawPayout(ACCOUNT, "p-2", odd);
  const paid = { state: "paid", currency: "EUR" };
  for (const by of [undefined, "payee", "batch"] as const)
    expect(await readReport(fresh, {}, by)).toMatchObject({
      totals: [{ ...paid, payments: 2, amount: "500.00" }],
      unlisted: [{ ...paid, key: "Recalled", payments: 1, amount: "250.00" }],
    });
  expect((await readReport(fresh, { since: Date.now() + 60_000 })).unlisted).toEqual([]);
});

it("refuses a status that does not exist", () => {
  expect(readStatuses("failed, asking")).toEqual(["failed", "timedOut", "terminated", "asking"]);
  expect(() => readStatuses("doubtful")).toThrow('There is no status "doubtful"');
});

it("offers the dry run and the retry of what failed, bound to the run that was seen", async () => {
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "failed");
  expect(run.failure).toEqual({ type: "Refused", message: "The account is closed." });
  expect(run.webUi).toBe("http://localhost:8233/namespaces/default/workflows/failed/failed-run");
  expect(run.next).toEqual([
    { action: "retry", workflowId: "failed", isDryRun: true },
    { action: "retry", workflowId: "failed", ifRun: "failed-run" },
    { action: "show", workflowId: "failed", isLog: true },
  ]);
});

it("says that no worker polls", async () => {
  connected.stub.isPolled = () => false;
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "asks");
  expect(run.notes).toEqual(['No worker polls task queue "payments" in namespace "default".']);
  connected.stub.isPolled = () => true;
});

it("says that no worker polls for the activities of an account, which only a workflow names", async () => {
  connected.stub.isPolled = (queue) => !queue.endsWith("@nope");
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "elsewhere");
  expect(run.notes).toEqual([
    'No worker polls task queue "payments@nope" in namespace "default". Its account "nope" is named by the workflow: correct the name, or start a worker for the account.',
  ]);
  connected.stub.isPolled = () => true;
});

it("records an end that the tracker has not recorded yet, so that all screens say the same", async () => {
  const fresh = await openLedger("memory");
  onTestFinished(() => fresh.close());
  await put(fresh, row({ workflowId: "failed", state: "refused" }));
  const sources = { ledger: fresh, temporal: connected.temporal, whyNot: [] };
  // Somebody who may only read the ledger.
  const recordEnds = () => Promise.reject(new Error("permission denied"));
  const reading = await readRun({ ...sources, ledger: { ...fresh, recordEnds } }, "failed");
  expect(reading).toMatchObject({
    status: "running",
    notes: [expect.stringContaining("is failed, which could not be recorded: permission denied")],
  });
  const ended = { status: "failed", endedAt: 10 };
  const run = await readRun(sources, "failed");
  expect(run).toMatchObject({ ...ended, reason: "The account is closed" });
  expect(await fresh.runs({})).toMatchObject([ended]);
});

it("says of a run that the ledger does not know what Temporal says", async () => {
  const run = await readRun({ ledger, temporal: connected.temporal, whyNot: [] }, "no-payment");
  expect(run).toMatchObject({ status: "running", type: "backup", payments: [], startedBy: null });
});

it("shows of each run what its list says", async () => {
  const { runs } = await listRuns(operations, {}, { limit: 50 });
  for (const run of runs) {
    const shown = await readRun(
      { ledger, temporal: connected.temporal, whyNot: [] },
      run.workflowId,
    );
    expect(shown).toMatchObject(run);
  }
});

it("a card and a payout of one run are never added together", async () => {
  const sums = await openLedger("memory");
  const payout = row({ workflowId: "both", request: { ...row().request, currency: "USD" } });
  const card = { ...payout.request, amount: "100.00" };
  await put(sums, { ...payout, question: question({ kind: "approval" }) });
  await put(sums, {
    ...payout,
    step: "createCard",
    operation: "createCard",
    request: card,
    question: question({ id: "q2", kind: "approval" }),
  });
  const money = [
    { group: "payouts", currency: "USD", amount: "250.00" },
    { group: "cards", currency: "USD", amount: "100.00" },
  ];
  const shown = await readRun({ ledger: sums, temporal: undefined, whyNot: [] }, "both");
  expect(shown).toMatchObject({ amount: null, currency: null });
  expect(new Set(shown.money)).toEqual(new Set(money));
  const { inbox } = await readOverview(sums, 0);
  expect(inbox).toMatchObject([{ kind: "approval", count: 2 }]);
  expect(new Set(inbox[0]?.money)).toEqual(new Set(money));
});
