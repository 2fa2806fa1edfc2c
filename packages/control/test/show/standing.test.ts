import type { Decision, Run, RunStatus, Standing } from "@durable-payments/ledger";
import { expect, it } from "vitest";
import type { TimelineItem } from "../../src/facts/history.ts";
import { type Progress, waitOf } from "../../src/facts/progress.ts";
import { type Evidence, reasonOf, stepsOf } from "../../src/rules/standing.ts";
import { viewOf } from "../../src/rules/run-view.ts";
import { ACCOUNT, nothing, question, row, run } from "../support/rows.ts";

const NOW = Date.parse("2026-11-23T19:30:00Z");
const AT_1941 = Date.parse("2026-11-23T19:41:00Z");

const progress = (more: Partial<Progress> = {}): Progress => ({
  runId: "run-1",
  firstRunId: "run-1",
  type: "payout",
  state: "running",
  isPaused: false,
  startedAt: 0,
  endedAt: null,
  pending: [],
  pendingChildren: [],
  taskAttempts: 0,
  taskQueue: "payments",
  rootId: "invoice-17",
  ...more,
});

const pending = (more: Partial<Progress["pending"][number]> = {}): Progress["pending"][number] => ({
  id: "1",
  type: "createPayout",
  taskQueue: "payments",
  attempt: 2,
  message: null,
  failureType: null,
  nextAttemptAt: null,
  ...more,
});

const backOff = pending({
  id: "awaitPayout:po-1",
  type: "awaitPayout",
  message: "The payout is processing.",
  failureType: "NotYet",
  nextAttemptAt: NOW + 6 * 3_600_000,
});

const wait = {
  account: ACCOUNT,
  workflowId: "invoice-17",
  runId: "run-1",
  since: 0,
  readAfter: null,
  isLeft: false,
  endedAs: null,
  closedAt: null,
  outcome: null,
};

const timer: TimelineItem = {
  kind: "timer",
  name: "sleep",
  summary: null,
  at: 0,
  endedAt: null,
  outcome: "open",
  message: null,
  until: Date.parse("2026-11-23T19:48:00Z"),
};

const end: Decision = {
  account: ACCOUNT,
  workflowId: "invoice-17",
  step: null,
  kind: "end",
  question: null,
  by: "ada",
  how: "flag",
  reason: "fraud",
  value: {},
  sequence: 1,
  at: 0,
};

const pause = { scope: "all", of: "", by: "bob", reason: "audit", since: 0 } as const;

const lost = pending({ message: "The last response was lost.", nextAttemptAt: AT_1941 });
const unknown = run({ status: "unknown" });

const CASES: ReadonlyArray<readonly [string, Partial<Evidence>, string | null]> = [
  ["goes on", { progress: progress() }, null],
  [
    "a lost answer, until it is checked again",
    {
      run: unknown,
      progress: progress({ pending: [lost] }),
      rows: [row({ state: "unknown", doubt: 1, from: 0, until: 1 })],
    },
    "createPayout: response lost, checks again at 19:41 UTC: The last response was lost",
  ],
  [
    "a lost answer that is being checked",
    {
      run: unknown,
      progress: progress(),
      rows: [row({ state: "unknown", doubt: 1, from: 0, until: AT_1941 })],
    },
    "createPayout: response lost, checking",
  ],
  [
    "a write that nothing vouches for",
    { run: unknown, rows: [row({ state: "unknown", message: "The ledger was restored." })] },
    "createPayout: The ledger was restored, checking",
  ],
  [
    "a write of which no known send",
    { run: unknown, rows: [row({ state: "unknown", operation: "createCard" })] },
    "createPayout: no known send, checking",
  ],
  [
    "a write that was sent, and of which nothing else is known",
    { run: unknown, rows: [row({ state: "unknown", sends: 1 })] },
    "createPayout: outcome unknown, checking",
  ],
  [
    "a run that Temporal has paused",
    { progress: progress({ isPaused: true }) },
    "its workflow is paused in Temporal: it continues once it is unpaused there",
  ],
  [
    "a question",
    {
      run: run({ status: "asking" }),
      progress: progress(),
      rows: [row({ state: "asking", question: question() })],
    },
    "createPayout: The list shows two payouts that may be it",
  ],
  [
    "an approval of a run that Temporal has paused",
    {
      run: run({ status: "approval" }),
      progress: progress({ isPaused: true }),
      rows: [row({ question: question({ kind: "approval", reason: "above 100.00 EUR" }) })],
    },
    "createPayout needs approval: above 100.00 EUR; its workflow is paused in Temporal: it continues once it is unpaused there",
  ],
  [
    "an approval of a run that has ended, and whose end is not recorded yet",
    {
      progress: progress({ state: "terminated" }),
      rows: [row({ question: question({ kind: "approval", approvedBy: "bob" }) })],
    },
    "createPayout is approved by bob; its run has ended: a retry continues it",
  ],
  ["a durable sleep", { progress: progress(), items: [timer] }, "sleeping until 19:48 UTC"],
  [
    "an outage",
    {
      progress: progress({
        pending: [
          pending({
            message: "The service cannot be reached.",
            failureType: "NotYet",
            nextAttemptAt: AT_1941,
          }),
        ],
      }),
    },
    "createPayout: The service cannot be reached; tries again at 19:41 UTC",
  ],
  [
    "funds",
    { waits: [{ ...wait, kind: "balance", thing: "EUR 250.00", activityId: "a" }] },
    "waiting for funds: EUR 250.00",
  ],
  [
    "a payout that the service does not know",
    {
      progress: progress({ pending: [backOff] }),
      waits: [
        {
          ...wait,
          kind: "payout",
          thing: "po-1",
          activityId: "awaitPayout:po-1",
          outcome: { problem: "retrievePayout was refused." },
        },
      ],
    },
    "the service does not show payout po-1: retrievePayout was refused; ask the service about it, or cancel the run",
  ],
  [
    "a payout under way, whose activity is in a long back-off",
    {
      progress: progress({ pending: [backOff] }),
      waits: [{ ...wait, kind: "payout", thing: "po-1", activityId: "awaitPayout:po-1" }],
    },
    "waiting for payout po-1 to complete",
  ],
  [
    "a payout under way, where the ledger cannot be read",
    { progress: progress({ pending: [backOff] }) },
    "waiting for payout po-1 to complete",
  ],
  [
    "a write that is tried again beside a payout under way",
    {
      progress: progress({
        pending: [
          backOff,
          pending({ message: "The service cannot be reached.", nextAttemptAt: AT_1941 }),
        ],
      }),
      waits: [{ ...wait, kind: "payout", thing: "po-1", activityId: "awaitPayout:po-1" }],
    },
    "createPayout: The service cannot be reached; tries again at 19:41 UTC",
  ],
  ["a pause", { pauses: [pause] }, "sends are paused by bob: audit"],
  ["a pause of another batch", { pauses: [{ ...pause, scope: "batch", of: "file-1" }] }, null],
  ["no worker", { progress: progress({ taskAttempts: 1 }) }, "waiting for a worker"],
  [
    "a run that Temporal has lost",
    { run: run({ status: "missing", endState: "missing" }) },
    "Temporal has no run of it: start it again with the same id and input",
  ],
  [
    "a refusal",
    { run: run({ status: "failed", endState: "failed", endReason: "The account is closed." }) },
    "The account is closed",
  ],
  [
    "terminated in mid-send",
    {
      run: run({ status: "unknown", endState: "terminated", endReason: "Terminated: stop" }),
      rows: [row({ state: "unknown", doubt: 1, from: 0 })],
    },
    "createPayout: response lost, checking; Terminated: stop",
  ],
  [
    "ended by a person, outcome unknown",
    {
      run: run({ status: "unknown", endState: "failed", endReason: "Ended." }),
      rows: [row({ state: "ended", doubt: 1, standing: "unknown" })],
      end,
    },
    "stopped by ada: fraud; createPayout: outcome unknown; Ended",
  ],
  ["a success", { run: run({ status: "succeeded", endState: "succeeded" }) }, null],
];

it.each(CASES)("says why a run is in its state: %s", (_, evidence, reason) => {
  expect(reasonOf({ ...nothing, now: NOW, ...evidence })).toBe(reason);
});

it("a wait is known by the id of its activity; its last look, and other activities, are no waits", () => {
  const of = (id: string) => waitOf({ id, type: "awaitPayout" });
  expect(of("awaitPayout:p-1")).toEqual([{ kind: "payout", thing: "p-1" }]);
  expect([...of("awaitPayout:p-1:look"), ...of("1")]).toEqual([]);
});

const stop: Decision = { ...end, reason: "wrong payee" };
const payout = (standing: Standing) => row({ state: "done", madeId: "p-1", standing });

it.each<[string, RunStatus, Partial<Evidence>, string | null]>([
  [
    "a payout that completed after its run was cancelled",
    "succeeded",
    { rows: [payout("completed")], end: stop },
    "stopped by ada: wrong payee; its payout was made and has completed",
  ],
  [
    "a payout that is under way after its run was cancelled",
    "waiting",
    { rows: [payout("made")], end: stop },
    "stopped by ada: wrong payee; its payout was made and is under way",
  ],
  [
    "a payout that came back after its run was cancelled",
    "returned",
    { rows: [{ ...payout("returned"), word: "reversed" }] },
    'its payout came back: the service says "reversed"',
  ],
  ["a failed payout", "failed", { rows: [payout("failed")] }, "its payout has failed"],
])("says the outcome of the money of a cancelled run: %s", (_, status, more, why) => {
  const found = { ...nothing, ...more, run: run({ status, endState: "cancelled" }) };
  expect(reasonOf(found)).toBe(why);
});

const DECIDED = { decidedWord: "odd", word: "Odd" };

it.each<[string, RunStatus, Partial<Run>, Standing, string]>([
  ["paid", "succeeded", {}, "completed", "its payout was made and has completed; ada"],
  ["open", "waiting", {}, "made", "its payout was made and is under way; ada"],
  ["came back", "returned", {}, "returned", "its payout came back; ada"],
  ["failed", "failed", { endState: "succeeded" }, "failed", "its payout has failed; ada"],
])("says what a person has said of the word for a payout: %s", (_, status, more, standing, why) => {
  const found = {
    ...nothing,
    rows: [{ ...payout(standing), ...DECIDED }],
    words: [{ account: ACCOUNT, word: "odd", means: "open", by: "ada", at: 1, reason: null }],
    run: run({ status, endState: "failed", ...more }),
  } satisfies Evidence;
  expect(reasonOf(found)).toBe(`${why} said that the status "Odd" means open`);
});

it("asks for the meaning of a word only until somebody has decided it, also before the tracker has followed", () => {
  const asking = { ...payout("made"), word: "Odd", wordUnlisted: true };
  const found = { ...nothing, rows: [asking], run: run({ status: "waiting" }) };
  expect(reasonOf(found)).toContain("use word to say what that means");
  const words = [
    { account: ACCOUNT, word: "odd", means: "completed", by: "ada", at: 1, reason: null },
  ] as const;
  expect(reasonOf({ ...found, words })).not.toContain("use word");
});

it("asks for the meaning of a later word of a completed payout, and says when the inbox asks for that of an open one", () => {
  const odd = { word: "recalled", wordUnlisted: true };
  const paid = { ...payout("completed"), ...odd, wordAsks: true };
  const done = { ...nothing, rows: [paid], run: run({ status: "succeeded" }) };
  const asks =
    'the service says "recalled", which no setting lists: use word to say what that means';
  expect(reasonOf(done)).toBe(asks);
  const open = {
    ...nothing,
    rows: [{ ...payout("made"), ...odd }],
    run: run({ status: "waiting" }),
  };
  expect(reasonOf(open)).toContain(`${asks}; the inbox asks about it after notify.lateAfterHours`);
});

it("says of a success without a payment that nothing was paid", () => {
  const found = { ...nothing, run: run({ status: "failed", endState: "succeeded" }) };
  expect(reasonOf(found)).toBe("ended without a payment; nothing was paid");
});

it.each<[RunStatus, Evidence["pauses"], string]>([
  ["succeeded", [], "succeeded"],
  ["waiting", [pause], "waiting"],
  ["running", [pause], "paused"],
  ["running", [{ ...pause, scope: "batch", of: "file-1" }], "running"],
])("the status is that of the ledger, or paused: %s", (status, pauses, shown) => {
  // Whatever Temporal says of it.
  const found = {
    ...nothing,
    pauses,
    run: run({ status }),
    progress: progress({ state: "failed" }),
  };
  expect(viewOf(found, null, () => null).status).toBe(shown);
});

it("shows a payout with its outcome, the service's word, its date, and its key if it is another than the run's", () => {
  const outcomeAt = Date.parse("2026-11-24T09:12:00Z");
  const request = { ...row().request, paymentDate: "2026-11-23" };
  const made = row({ state: "done", madeId: "p-1", word: "processing", request });
  const paid = { ...payout("completed"), word: "completed", outcomeAt, workflowId: "payout/rent" };
  expect(stepsOf({ ...nothing, rows: [made, paid] })).toMatchObject([
    { text: 'p-1, under way, payment date 2026-11-23 (the service says "processing")', key: null },
    { text: 'p-1, paid 2026-11-24 09:12 UTC (the service says "completed")', key: "payout/rent" },
  ]);
});

it("says the name of a step that only Temporal knows once: its summary begins with it", () => {
  const named = (name: string, summary: string) =>
    ({ ...timer, kind: "activity", outcome: "done", name, summary }) as const;
  const items = [
    named("createBeneficiary", "createBeneficiary"),
    named("createPayout", "createPayout: 42.00 EUR"),
    named("createPayout", "createPayout (call 2)"),
    named("pay", "payroll of November"),
  ];
  expect(stepsOf({ ...nothing, items }).map(({ text }) => text)).toEqual([
    "",
    "42.00 EUR",
    "(call 2)",
    "payroll of November",
  ]);
});

it("says when each object is read at the service next: an open or watched payout, and an open wait", () => {
  const readAfter = Date.parse("2026-11-24T09:12:00Z");
  const closed = { ...wait, kind: "balance", thing: "EUR 1.00", activityId: "b" } as const;
  const open = { ...wait, kind: "cardholder", thing: "h-1", activityId: "h", readAfter } as const;
  const steps = stepsOf({
    ...nothing,
    rows: [{ ...payout("made"), readAfter }, { ...payout("completed"), readAfter }, row()],
    waits: [open, { ...closed, readAfter, closedAt: 1 }],
    items: [timer],
  });
  expect(steps.map((one) => one.readAfter)).toEqual([
    readAfter,
    readAfter,
    null,
    readAfter,
    null,
    null,
  ]);
});

it("has no open wait of a run that has ended: nothing came back, and nobody waits any more", () => {
  const open = { ...wait, kind: "return", thing: "po-1", activityId: "awaitReturn:po-1" } as const;
  const stepOf = (given: Partial<Run>) => stepsOf({ ...nothing, run: run(given), waits: [open] });
  expect(stepOf({})).toMatchObject([{ state: "open", endedAt: null }]);
  expect(stepOf({ endState: "missing", endedAt: 5 })).toMatchObject([{ state: "open" }]);
  expect(stepOf({ endState: "succeeded", endedAt: 5 })).toMatchObject([
    { state: "cancelled", endedAt: 5, text: "po-1: nothing until its run ended", readAfter: null },
  ]);
});
