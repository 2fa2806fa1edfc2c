import type { Decision, RecordedWait } from "@durable-payments/ledger";
import { expect, it } from "vitest";
import type { InboxItem } from "../../src/views/inbox.ts";
import { decisionsOn } from "../../src/rules/approval.ts";
import { viewOf } from "../../src/rules/run-view.ts";
import { nextOf, progressOfRun } from "../../src/views/run.ts";
import type { Progress } from "../../src/facts/progress.ts";
import { stepsOf } from "../../src/rules/standing.ts";
import { ACCOUNT, nothing, question as asked, row, run } from "../support/rows.ts";

const failed = viewOf({ ...nothing, run: run({ status: "failed", endedAt: 1 }) }, null, () => null);

const check = (outcome: string | undefined): RecordedWait => ({
  account: ACCOUNT,
  workflowId: "invoice-17",
  runId: "run-1",
  activityId: "awaitVerification:ch-1",
  kind: "cardholder",
  thing: "ch-1",
  since: 0,
  readAfter: null,
  isLeft: false,
  endedAs: null,
  closedAt: 1,
  outcome: outcome === undefined ? null : { outcome },
});

const question: InboxItem = {
  kind: "question",
  workflowId: "invoice-17",
  step: "createPayout",
  operation: "createPayout",
  question: "q1",
  reason: "It may be po-8.",
  since: 0,
  candidates: [],
  choices: {},
  startedBy: "ada",
  hash: null,
  details: [],
  next: [{ action: "answer", workflowId: "invoice-17" }],
  amount: null,
  currency: null,
  payee: null,
  reference: null,
};

const progress: Progress = {
  runId: "run-1",
  firstRunId: "run-1",
  type: "payout",
  state: "failed",
  isPaused: false,
  startedAt: 0,
  endedAt: 1,
  pending: [],
  pendingChildren: [],
  taskAttempts: 0,
  taskQueue: "payments",
  rootId: "invoice-17",
};
const found = { ...nothing, progress, failure: null, isLogged: true };
const log = { action: "show", workflowId: "invoice-17", isLog: true } as const;
const retry = { action: "retry", workflowId: "invoice-17" } as const;
const failure = (type: string, details?: object) => ({ type, message: "", details });

it("offers to override the end of a person, and no retry that is refused", () => {
  const end = { kind: "end", by: "ada", reason: "fraud" } as Decision;
  expect(nextOf({ ...failed, status: "ended" }, [], { ...found, end })).toEqual([
    { ...retry, ifRun: "run-1", isOverruling: true },
    log,
  ]);
});

it("offers the way of a retry that is possible: after an undo, only from the beginning", () => {
  const rows = [row({ state: "undone", standing: "undone" })];
  const own = { ...found, rows, run: { ...found.run, type: "payOrder" } };
  const again = { ...retry, isRestarted: true };
  const next = [{ ...again, isDryRun: true }, { ...again, ifRun: "run-1" }, log];
  expect(nextOf(failed, [], own)).toEqual(next);
});

it.each(["AlreadyCarriedOut", "MadeTwice"])("offers no retry of %s", (type) => {
  expect(nextOf(failed, [], { ...found, failure: failure(type) })).toEqual([log]);
});

it("offers a retry of an identity check only where it may end otherwise", () => {
  const of = (reason: string) =>
    nextOf(failed, [], { ...found, failure: failure("NotVerified", { reason }) });
  expect(of("refused")).toEqual([log]);
  expect(of("open")).toContainEqual({ ...retry, isDryRun: true });
});

it("offers no log of a run whose payments have keys of their own", () => {
  expect(nextOf({ ...failed, status: "succeeded" }, [], { ...found, isLogged: false })).toEqual([]);
});

it.each(["made", "completed"] as const)("offers to say what an unlisted status means: %s", (is) => {
  const odd = { standing: is, word: "recalled", wordUnlisted: true };
  const rows = [row({ state: "done", madeId: "p-1", ...odd })];
  const [first] = nextOf({ ...failed, status: "succeeded" }, [], { ...found, rows });
  expect(first).toEqual({ action: "word", workflowId: "recalled", account: ACCOUNT });
});

it.each(["failed", "returned"] as const)(
  "offers to pay a payout again under a new key: %s",
  (is) => {
    const rows = [row({ state: "done", madeId: "p-1", standing: is })];
    expect(nextOf({ ...failed, status: is }, [], { ...found, rows })).toEqual([
      { action: "pay", isNewKey: true },
      log,
    ]);
  },
);

it("follows a user's own workflow whose money came back to its end, and offers to cancel it", () => {
  const open = { ...failed, status: "returned", endedAt: null } as const;
  const own = { ...found, run: { ...found.run, type: "payOrder" } };
  expect(nextOf(open, [], own).map(({ action }) => action)).toEqual(["show", "cancel", "show"]);
  const view = { ...open, notes: [], steps: [] };
  expect(progressOfRun(view).isOver).toBe(false);
  expect(progressOfRun({ ...view, endedAt: 1 }).isOver).toBe(true);
});

it("offers to amend an input that is not valid", () => {
  expect(nextOf(failed, [], { ...found, failure: failure("InvalidRequest") })).toEqual([
    { ...retry, ifRun: "run-1", isAmended: true },
    log,
  ]);
});

it("offers to cancel what nobody can approve, and not to approve it", () => {
  const next = decisionsOn("invoice-17", null);
  const approval = { ...question, kind: "approval", next } as const;
  const running = { ...failed, status: "waiting" } as const;
  expect(nextOf(running, [approval], found)).toEqual([
    { action: "cancel", workflowId: "invoice-17" },
    log,
  ]);
});

it("offers to answer the question of a failed run, before it can be retried", () => {
  const rows = [row({ state: "asking", question: asked() })];
  expect(nextOf(failed, [question], { ...found, rows })).toEqual([
    { action: "answer", workflowId: "invoice-17" },
    log,
  ]);
});

it.each([
  ["verified", "done"],
  ["refused", "failed"],
  ["removed", "failed"],
  ["failed", "failed"],
  ["incomplete", "failed"],
  ["runEnded", "cancelled"],
  [undefined, "done"],
])("shows how a wait has ended: %s", (outcome, state) => {
  expect(stepsOf({ ...nothing, waits: [check(outcome)] })).toMatchObject([{ state }]);
});

it("follows a run by what is seen, not by when it is read next", () => {
  const factsAt = (readAfter: number) => {
    const rows = [row({ state: "done", madeId: "p-1", readAfter })];
    return progressOfRun({ ...failed, steps: stepsOf({ ...nothing, rows }), notes: [] }).facts;
  };
  expect(factsAt(2)).toEqual(factsAt(1));
});
