import type {
  BatchDetails,
  InboxItem,
  RunDetails,
  RunLog,
  StepView,
} from "@durable-payments/control/show";
import { columnsOf } from "../../src/output/text.ts";
import { doctorText, overviewText } from "../../src/output/installation.ts";
import { batchText, listCsv, listText } from "../../src/output/list-text.ts";
import { inboxText, logText, runText } from "../../src/output/run-text.ts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const START = Date.parse("2026-11-23T19:30:00Z");
const NOW = Date.parse("2026-11-23T19:36:00Z");

const nothing = {
  amount: null,
  currency: null,
  payee: null,
  reference: null,
  madeId: null,
  knownBy: null,
  sends: null,
} as const;

const step = (more: Partial<StepView>): StepView => ({
  ...nothing,
  kind: "write",
  name: "createPayout",
  state: "done",
  text: "po-1",
  at: START,
  endedAt: START + 400,
  ...more,
});

const run = (more: Partial<RunDetails> = {}): RunDetails => ({
  workflowId: "invoice-17",
  runId: "0199-run",
  type: "payout",
  state: "running",
  statuses: ["running"],
  reason: null,
  startedAt: START,
  endedAt: null,
  startedBy: "ada",
  batch: null,
  batchRow: null,
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  reference: "Invoice 17",
  money: [{ currency: "EUR", amount: "250.00" }],
  succeeded: [],
  steps: [],
  inbox: [],
  failure: null,
  end: null,
  webUi: null,
  next: [],
  notes: [],
  ...more,
});

const question: InboxItem = {
  kind: "question",
  workflowId: "invoice-17",
  step: "createPayout",
  operation: "createPayout",
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  reference: "Invoice 17",
  question: "q1",
  reason: "The list shows a payout that may be it, without its key.",
  since: START,
  candidates: [
    {
      payout_id: "po-8",
      amount: "250.00",
    },
  ],
  choices: [
    {
      choice: "found",
      consequence: "FOUND: sends nothing.",
    },
    {
      choice: "resend",
      consequence: "RESEND: pays twice if the first attempt went through. Check the bank first.",
    },
  ],
  startedBy: "ada",
  hash: null,
  details: [],
};

const ENDINGS: ReadonlyArray<readonly [string, RunDetails]> = [
  [
    "succeeded",
    run({
      state: "succeeded",
      statuses: ["succeeded"],
      endedAt: NOW,
      steps: [
        step({}),
        step({
          kind: "wait",
          name: "awaitPayout",
          text: "po-1: completed",
          endedAt: NOW,
        }),
      ],
    }),
  ],
  [
    "failed",
    run({
      state: "failed",
      statuses: ["failed"],
      reason: "The account is closed",
      endedAt: NOW,
      steps: [
        step({
          state: "refused",
          text: "refused by the service: The account is closed.",
        }),
      ],
      next: [
        {
          operation: "retry",
          workflowId: "invoice-17",
          isDryRun: true,
        },
        {
          operation: "retry",
          workflowId: "invoice-17",
          ifRun: "0199-run",
        },
        {
          operation: "show",
          workflowId: "invoice-17",
          isLog: true,
        },
      ],
    }),
  ],
  [
    "a question",
    run({
      statuses: ["asking", "unknown", "running"],
      reason: "createPayout: it may be po-8",
      steps: [
        step({
          state: "asking",
          text: "needs an answer",
          endedAt: null,
        }),
      ],
      inbox: [question],
      next: [
        {
          operation: "answer",
          workflowId: "invoice-17",
        },
      ],
    }),
  ],
  [
    "an answer that was lost, of a terminated run",
    run({
      state: "terminated",
      statuses: ["unknown", "failed", "terminated"],
      endedAt: NOW,
      reason: "createPayout: response lost, checking until 19:41 UTC; Terminated: stop",
      steps: [
        step({
          state: "unknown",
          text: "response lost, checking until 19:41 UTC, sent 2 times",
          endedAt: null,
        }),
      ],
    }),
  ],
  [
    "ended by a person",
    run({
      state: "failed",
      statuses: ["ended", "failed"],
      endedAt: NOW,
      end: {
        by: "bob",
        reason: "fraud",
        at: NOW,
      },
      steps: [
        step({
          state: "ended",
          text: "ended by a person; nothing was paid",
        }),
      ],
      next: [
        {
          operation: "retry",
          workflowId: "invoice-17",
          isOverruling: true,
        },
      ],
    }),
  ],
  ["without Temporal", run({ state: null, statuses: [], notes: ["Cannot connect to Temporal."] })],
];

const name = process.env["STARTER_COMMAND"];
beforeEach(() => {
  vi.stubEnv("PAYMENTS_PERSON", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  if (name === undefined) delete process.env["STARTER_COMMAND"];
});

/** Lines that are copied stay whole: links and commands. */
const isCopied = (line: string): boolean => /^ {4}starter /.test(line);

const expectNarrow = (text: string): void => {
  const wide = text.split("\n").filter((line) => columnsOf(line) > 80 && !isCopied(line));
  expect(wide).toEqual([]);
};

it.each(ENDINGS)("prints a run: %s", (_, given) => {
  const text = runText(given, NOW);
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

it("puts the consequences of the answers before the reason of the question", () => {
  const text = inboxText({ items: [question], notes: [] }, NOW);
  expectNarrow(text);
  const lines = text.split("\n");
  expect(lines[0]).toBe("1 question · 0 approvals");
  expect(lines[2]).toBe("1. Question: 250.00 EUR to b-1, Invoice 17");
  expect(text.indexOf("RESEND: pays twice")).toBeLessThan(text.indexOf("Why: "));
  expect(lines.at(-1)).toBe("   starter answer invoice-17 --by NAME");
});

it("says that nothing is waiting for a person", () => {
  expect(inboxText({ items: [], notes: [] })).toBe("Nothing is waiting for a person.");
});

const totals = [
  {
    status: "failed",
    runs: 2,
    money: [{ currency: "EUR", amount: "500.00" }],
    succeeded: [{ currency: "EUR", amount: "125.00" }],
  },
];

it("prints a list with the reasons, and the money by status", () => {
  const failed = run({
    state: "failed",
    statuses: ["failed"],
    reason: "Closed. ".repeat(20).trim(),
  });
  const text = listText({ runs: [failed, run()], isMore: true, totals }, NOW);
  expectNarrow(text);
  expect(text).toMatchSnapshot();
  expect(listText({ runs: [], isMore: false, totals: [] })).toBe("No run found.");
});

it("prints CSV in which no cell is a formula", () => {
  const [head, row] = listCsv([run({ reference: "=1+1", reason: 'a "b", c' })]).split("\n");
  expect(head).toMatch(/^workflowId,runId,type,status,reason,amount,currency,/);
  expect(row).toBe(
    `invoice-17,0199-run,payout,running,"a ""b"", c",250.00,EUR,b-1,'=1+1,2026-11-23T19:30:00.000Z,,ada,,`,
  );
});

it("names the failed rows of a batch with the reason, and the retry", () => {
  const row: BatchDetails["failed"][number] = {
    number: 3,
    workflowId: "row-3",
    fingerprint: "f",
    reference: null,
    payee: null,
    amount: "10.50",
    currency: "EUR",
    state: "failed",
    message: "The account is closed.",
  };
  const text = batchText({
    id: "file-1",
    account: "a",
    type: "payout",
    file: "salaries.csv",
    contentHash: "c",
    rows: 2,
    state: "finished",
    createdBy: "ada",
    createdAt: START,
    finishedAt: START,
    approvedBy: "bob",
    pausedBy: null,
    rejected: [],
    notNamed: 3,
    warnings: ["Row 3 may be a duplicate of invoice-3 of 2026-11-22 10:00 UTC, done"],
    failed: [row],
    counts: [
      {
        state: "succeeded",
        currency: "EUR",
        rows: 1,
        amount: "20.00",
      },
      {
        state: "failed",
        currency: "EUR",
        rows: 1,
        amount: "10.50",
      },
    ],
    next: [
      {
        operation: "retryAll",
        batch: "file-1",
      },
    ],
  });
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

it("prints the log: who did what, decisions among them, and whether it was edited", () => {
  const log: RunLog = {
    workflowId: "invoice-17",
    lines: [
      { step: "createPayout", at: START, sequence: 1, who: "worker", what: "sent", details: {} },
      {
        account: "a",
        workflowId: "invoice-17",
        step: null,
        at: START,
        sequence: 2,
        kind: "end",
        question: null,
        by: "bob",
        how: "--by",
        reason: "fraud",
        value: {},
      },
    ],
  };
  expect(logText({ ...log, verification: { isIntact: true, lines: 2 } })).toMatchSnapshot();
  expect(logText({ ...log, verification: { isIntact: false, sequence: 2 } })).toContain(
    "EDITED: entry 2",
  );
});

it("prints everything at a glance", () => {
  const text = overviewText(
    {
      runs: { running: 3, failedToday: 1 },
      pauses: [{ scope: "all", of: "", by: "bob", reason: "audit" }],
      waiting: [
        {
          what: "payouts to complete",
          count: 2,
          money: [{ currency: "EUR", amount: "500.00" }],
          since: START,
        },
      ],
      inbox: 1,
      notes: [],
      next: [{ operation: "inbox" }],
      checks: [
        { name: "service", status: "warning", detail: "slow: http://service answers in 9000 ms" },
        { name: "worker", status: "ok", detail: '1 on "payments"' },
      ],
    },
    NOW,
  );
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

it("prints the doctor's findings with what helps", () => {
  const text = doctorText({
    isWell: false,
    checks: [
      {
        name: "worker",
        status: "failed",
        detail: "no worker polls payments",
        next: { operation: "startWorker" },
      },
      { name: "limits", status: "warning", detail: "none", remedy: "Set PAYMENTS_MAX_AMOUNTS." },
    ],
  });
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});
