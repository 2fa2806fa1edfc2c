import type { Decision, Standing } from "@durable-payments/ledger";
import { expect, it } from "vitest";
import type { TimelineItem } from "../../src/facts/history.ts";
import { type Progress, waitOf } from "../../src/facts/progress.ts";
import { type Evidence, standingOf } from "../../src/rules/standing.ts";
import { ACCOUNT, nothing, question, row } from "../support/rows.ts";

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
  closedAt: null,
  outcome: null,
};

const LAG_MS = 3 * 60_000;
/** Until when a lost send may be carried out; it is listed by 19:41 at the latest. */
const UNTIL = AT_1941 - LAG_MS;

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

const CASES: ReadonlyArray<
  readonly [string, Partial<Evidence>, ReadonlyArray<string>, string | null]
> = [
  ["goes on", { progress: progress() }, ["running"], null],
  [
    "a lost answer",
    { progress: progress(), rows: [row({ state: "unknown", doubt: 1, from: 0, until: UNTIL })] },
    ["unknown", "waiting", "running"],
    "createPayout: response lost, checking until 19:41 UTC",
  ],
  [
    "a lost answer whose time is over, whenever something else is tried again",
    {
      progress: progress({ pending: [pending({ nextAttemptAt: AT_1941 })] }),
      rows: [row({ state: "unknown", doubt: 1, from: 0, until: NOW - LAG_MS })],
    },
    ["unknown", "waiting", "running"],
    "createPayout: response lost, checking",
  ],
  [
    "a lost answer that the list cannot decide, and why",
    {
      progress: progress({
        pending: [
          pending({ type: "createPayout", message: "The list could not be read: HTTP 404." }),
        ],
      }),
      rows: [row({ state: "unknown", doubt: 1, from: 0, until: NOW - LAG_MS })],
    },
    ["unknown", "waiting", "running"],
    "createPayout: response lost, checking: The list could not be read: HTTP 404",
  ],
  [
    "a run that Temporal has paused",
    { progress: progress({ isPaused: true }) },
    ["waiting", "running"],
    "Its workflow is paused in Temporal: it continues once it is unpaused there.",
  ],
  [
    "a write that nothing vouches for",
    {
      progress: progress(),
      rows: [row({ state: "unknown", until: UNTIL, message: "The ledger was restored." })],
    },
    ["unknown", "waiting", "running"],
    "createPayout: The ledger was restored, checking until 19:41 UTC",
  ],
  [
    "a write of which nothing is known",
    { progress: progress(), rows: [row({ state: "unknown", until: UNTIL })] },
    ["unknown", "waiting", "running"],
    "createPayout: outcome unknown, checking until 19:41 UTC",
  ],
  [
    "a question",
    { progress: progress(), rows: [row({ state: "asking", question: question() })] },
    ["asking", "unknown", "running"],
    "createPayout: The list shows two payouts that may be it.",
  ],
  [
    "an approval",
    {
      progress: progress(),
      rows: [row({ question: question({ kind: "approval", reason: "above 100.00 EUR" }) })],
    },
    ["approval", "running"],
    "createPayout needs approval: above 100.00 EUR",
  ],
  [
    "a durable sleep",
    { progress: progress(), items: [timer] },
    ["waiting", "running"],
    "sleeping until 19:48 UTC",
  ],
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
    ["waiting", "running"],
    "createPayout: The service cannot be reached; tries again at 19:41 UTC",
  ],
  [
    "funds",
    {
      progress: progress(),
      waits: [{ ...wait, kind: "balance", thing: "EUR 250.00", activityId: "a" }],
    },
    ["waiting", "running"],
    "waiting for funds: EUR 250.00",
  ],
  [
    "a payout under way",
    { progress: progress(), waits: [{ ...wait, kind: "payout", thing: "po-1", activityId: "a" }] },
    ["waiting", "running"],
    "waiting for payout po-1 to complete",
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
    ["waiting", "running"],
    "the service does not show payout po-1: retrievePayout was refused; ask the service about it, or cancel the run",
  ],
  [
    "a payout under way, whose activity is in a long back-off",
    {
      progress: progress({ pending: [backOff] }),
      waits: [{ ...wait, kind: "payout", thing: "po-1", activityId: "awaitPayout:po-1" }],
    },
    ["waiting", "running"],
    "waiting for payout po-1 to complete",
  ],
  [
    "a payout under way, where the ledger cannot be read",
    { progress: progress({ pending: [backOff] }) },
    ["waiting", "running"],
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
    ["waiting", "running"],
    "createPayout: The service cannot be reached; tries again at 19:41 UTC",
  ],
  [
    "a pause",
    { progress: progress(), pauses: [pause] },
    ["paused", "running"],
    "sends are paused by bob: audit",
  ],
  [
    "a pause of another batch",
    { progress: progress(), pauses: [{ ...pause, scope: "batch", of: "file-1" }] },
    ["running"],
    null,
  ],
  ["no worker", { progress: progress({ taskAttempts: 1 }) }, ["running"], "waiting for a worker"],
  [
    "a refusal",
    {
      progress: progress({ state: "failed" }),
      failure: { type: "Refused", message: "The account is closed." },
      rows: [row({ state: "refused", message: "closed" })],
    },
    ["failed"],
    "The account is closed",
  ],
  [
    "terminated in mid-send",
    {
      progress: progress({ state: "terminated" }),
      failure: { type: "Terminated", message: "Terminated: stop" },
      rows: [row({ state: "unknown", doubt: 1, from: 0, until: UNTIL })],
    },
    ["unknown", "failed", "terminated"],
    "createPayout: response lost, checking until 19:41 UTC; Terminated: stop",
  ],
  [
    "ended by a person, outcome unknown",
    {
      progress: progress({ state: "failed" }),
      failure: { type: "Ended", message: "Ended." },
      rows: [row({ state: "ended", doubt: 1 })],
      end,
    },
    ["unknown", "ended", "failed"],
    "stopped by ada: fraud; createPayout: outcome unknown; Ended",
  ],
  [
    "a success that a person wanted to end afterwards",
    { progress: progress({ state: "succeeded" }), rows: [row({ state: "done" })], end },
    ["succeeded"],
    "stopped by ada: fraud",
  ],
  ["a success", { progress: progress({ state: "succeeded" }) }, ["succeeded"], null],
  ["a cancellation", { progress: progress({ state: "cancelled" }) }, ["cancelled"], null],
  [
    "Temporal out of reach",
    { progress: undefined, rows: [row({ state: "asking", question: question() })] },
    ["asking", "unknown"],
    "createPayout: The list shows two payouts that may be it.",
  ],
];

it.each(CASES)("says why a run is in its state: %s", (_, evidence, statuses, reason) => {
  const standing = standingOf({
    ...nothing,
    now: NOW,
    listLagMs: LAG_MS,
    ...evidence,
  });
  expect(standing).toMatchObject({ statuses, reason });
});

it("a wait is known by the id of its activity; its last look, and other activities, are no waits", () => {
  const of = (id: string) => waitOf({ id, type: "awaitPayout" });
  expect(of("awaitPayout:p-1")).toEqual([{ kind: "payout", thing: "p-1" }]);
  expect([...of("awaitPayout:p-1:look"), ...of("1")]).toEqual([]);
});

const run: NonNullable<Evidence["run"]> = {
  workflowId: "invoice-17",
  account: ACCOUNT,
  runId: "run-1",
  type: "payout",
  startedBy: "ada",
  batch: null,
  batchRow: null,
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  alias: null,
  reference: null,
  startedAt: 0,
  endState: null,
  endedAt: null,
  endType: null,
  endReason: null,
  isStopped: false,
  isPlanned: false,
  status: "running",
};

const stop: Decision = { ...end, reason: "wrong payee" };
const payout = (standing: Standing) => ({
  ...row({ state: "done", madeId: "p-1" }),
  standing,
});

it.each<[string, Progress["state"], Partial<Evidence>, string, string | null]>([
  [
    "a payout that completed after its run was cancelled",
    "cancelled",
    { rows: [payout("completed")], end: stop },
    "succeeded",
    "stopped by ada: wrong payee; its payout was made and has completed",
  ],
  [
    "a payout that is under way after its run was cancelled",
    "cancelled",
    { rows: [payout("made")], end: stop },
    "waiting",
    "stopped by ada: wrong payee; its payout was made and is under way",
  ],
  [
    "a failed payout whose wait somebody completed by hand",
    "succeeded",
    { rows: [payout("failed")] },
    "failed",
    "its payout was made and has failed",
  ],
  [
    "a run that succeeded without a payout",
    "succeeded",
    {},
    "failed",
    "ended without a payout; nothing was paid",
  ],
  [
    "a payout that came back after its run had succeeded",
    "succeeded",
    { rows: [payout("returned")] },
    "returned",
    "its payout came back",
  ],
  ["a payout that completed", "succeeded", { rows: [payout("completed")] }, "succeeded", null],
])(
  "says what became of the money, whatever became of the run: %s",
  (_, state, more, status, why) => {
    const found = { ...nothing, run, progress: progress({ state }), now: NOW, ...more };
    expect(standingOf(found)).toEqual({ statuses: [status], reason: why });
  },
);

it("says of a run that Temporal has forgotten what the ledger knows of its money", () => {
  const forgotten = { ...run, status: "succeeded", endState: "cancelled" } as const;
  const rows = [payout("completed")];
  expect(standingOf({ ...nothing, run: forgotten, rows, end: stop })).toEqual({
    statuses: ["succeeded"],
    reason: "stopped by ada: wrong payee; its payout was made and has completed",
  });
});
