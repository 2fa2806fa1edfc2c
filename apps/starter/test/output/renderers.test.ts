import type { DecisionKind, JsonObject } from "@durable-payments/ledger";
import type {
  BatchDetails,
  FileListing,
  InboxItem,
  ListedPayment,
  ReportLine,
  RunDetails,
  RunLog,
  RunView,
  StepView,
} from "@durable-payments/control/show";
import { columnsOf } from "../../src/output/text.ts";
import {
  doctorText,
  overviewText,
  recoveryText,
  type ShownOverview,
} from "../../src/output/installation.ts";
import { batchText, knownLines } from "../../src/output/batch-text.ts";
import { runCsv } from "@durable-payments/control/show";
import { listText } from "../../src/output/list-text.ts";
import { reportText } from "../../src/output/report-text.ts";
import { logText } from "../../src/output/log-text.ts";
import { inboxText, runText } from "../../src/output/run-text.ts";
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
  key: null,
  readAfter: null,
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

const payment: ListedPayment = {
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  reference: "Invoice 17",
  group: "payouts",
  state: "underWay",
  operation: "createPayout",
  madeId: "po-1",
  payeeName: "Muster Handelsgesellschaft mit beschränkter Haftung, CH",
  payeeAccount: "2606",
  paymentDate: "2026-11-20",
  completedAt: null,
  word: "processing",
};

const run = (more: Partial<RunDetails> = {}): RunDetails => ({
  workflowId: "invoice-17",
  runId: "0199-run",
  type: "payout",
  status: "running",
  payments: [{ ...payment, payeeAccount: "3000" }],
  reason: null,
  startedAt: START,
  endedAt: null,
  startedBy: "ada",
  batch: null,
  batchRow: null,
  amount: "250.00",
  currency: "EUR",
  payee: "b-1",
  payeeName: "Example Supplies GmbH, DE",
  payeeAccount: "3000",
  reference: "Invoice 17",
  money: [{ group: "payouts", currency: "EUR", amount: "250.00" }],
  steps: [],
  inbox: [],
  failure: null,
  end: null,
  webUi: null,
  next: [],
  notes: [],
  ...more,
});

const ANSWERS = (["found", "resend", "end"] as const).map(
  (choice) => ({ action: "answer", workflowId: "invoice-17", question: "q1", choice }) as const,
);

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
  choices: {
    found: "FOUND: sends nothing.",
    resend: "RESEND: pays twice if the first attempt went through. Check the bank first.",
  },
  startedBy: "ada",
  hash: null,
  details: [],
  next: ANSWERS,
};

const ENDINGS: ReadonlyArray<readonly [string, RunDetails]> = [
  [
    "succeeded",
    run({
      status: "succeeded",
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
      status: "failed",
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
          action: "retry",
          workflowId: "invoice-17",
          isDryRun: true,
        },
        {
          action: "retry",
          workflowId: "invoice-17",
          ifRun: "0199-run",
        },
        {
          action: "show",
          workflowId: "invoice-17",
          isLog: true,
        },
      ],
    }),
  ],
  [
    "a question",
    run({
      status: "asking",
      reason: "createPayout: it may be po-8",
      steps: [
        step({
          state: "asking",
          text: "needs an answer",
          endedAt: null,
        }),
      ],
      inbox: [question],
      next: ANSWERS,
    }),
  ],
  [
    "an answer that was lost, of a terminated run",
    run({
      status: "unknown",
      endedAt: NOW,
      reason: "createPayout: response lost, checks again at 19:41 UTC; Terminated: stop",
      steps: [
        step({
          state: "unknown",
          text: "response lost, checks again at 19:41 UTC, sent 2 times",
          endedAt: null,
        }),
      ],
    }),
  ],
  [
    "ended by a person",
    run({
      status: "ended",
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
          action: "retry",
          workflowId: "invoice-17",
          isOverruling: true,
        },
      ],
    }),
  ],
  ["without Temporal", run({ notes: ["Cannot connect to Temporal."] })],
];

const name = process.env["DURABLE_PAYMENTS_COMMAND"];
beforeEach(() => {
  vi.stubEnv("PAYMENTS_PERSON", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  if (name === undefined) delete process.env["DURABLE_PAYMENTS_COMMAND"];
});

/** Lines that are copied stay whole: links and commands. */
const isCopied = (line: string): boolean => /^ {3,4}durable-payments /.test(line);

const expectNarrow = (text: string): void => {
  const wide = text.split("\n").filter((line) => columnsOf(line) > 80 && !isCopied(line));
  expect(wide).toEqual([]);
};

it.each(ENDINGS)("prints a run: %s", (_, given) => {
  const text = runText(given, NOW);
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

it("says when a payout is read at the service next, and if that is overdue", () => {
  const text = (readAfter: number) => runText(run({ steps: [step({ readAfter })] }), NOW);
  expect(text(NOW + 60_000)).toContain("po-1. Read next at 2026-11-23 19:37:00Z");
  expect(text(NOW - 60_000)).toContain("po-1. Due to be read since 2026-11-23 19:35:00Z");
});

it("calls the limit of a card that, also of a run that issued none", () => {
  const money = [{ group: "cards", currency: "USD", amount: "100.80" }] as const;
  const text = runText(run({ type: "onboardCardholder", status: "failed", money }), NOW);
  expect(text).toMatch(/card limit +100\.80 USD for Example/);
  expect(text).not.toMatch(/^ +pays /m);
  const both = [...money, { group: "payouts", currency: "USD", amount: "75.00" }] as const;
  const shown = runText(run({ type: "payOrder", money: both }), NOW);
  expect(shown).toMatch(/^ +pays +75\.00 USD/m);
  expect(shown).toMatch(/^ +card limit +100\.80 USD/m);
});

it("puts the consequences of the answers before the reason of the question", () => {
  const text = inboxText({ items: [question] }, NOW);
  expectNarrow(text);
  const lines = text.split("\n");
  expect(lines[0]).toBe("1 question · 0 approvals");
  expect(lines[2]).toBe("1. Question: 250.00 EUR to b-1, Invoice 17");
  expect(text.indexOf("RESEND: pays twice")).toBeLessThan(text.indexOf("Why: "));
  expect(lines.at(-1)).toBe(
    "   durable-payments answer invoice-17 --for q1 --choose end --reason WHY --by NAME",
  );
});

it("says that nothing is waiting for a person", () => {
  expect(inboxText({ items: [] })).toBe("Nothing is waiting for a person.");
});

const listed = (more: Partial<RunView> = {}): RunView => ({
  ...payment,
  workflowId: "invoice-17",
  runId: "0199-run",
  type: "payout",
  status: "waiting",
  reason: null,
  money: [{ group: "payouts", currency: "EUR", amount: "250.00" }],
  payments: [payment],
  startedAt: START,
  endedAt: null,
  startedBy: "ada",
  batch: null,
  batchRow: null,
  ...more,
});

const line: ReportLine = {
  key: null,
  name: null,
  account: null,
  group: "payouts",
  currency: "EUR",
  state: "underWay",
  payments: 3,
  amount: "250.00",
};

it("prints a list in the columns of the terminal, with the reasons, and the money of all that matches", () => {
  const failed = listed({
    workflowId: "invoice-18",
    status: "failed",
    endedAt: START,
    payments: [],
    reason: "Closed. ".repeat(20).trim(),
  });
  const found = {
    runs: [listed(), failed],
    next: undefined,
    notes: ["Temporal is away."],
    totals: [line],
    unlisted: [{ ...line, key: "Recalled", state: "paid", payments: 1 } as const],
  };
  const narrow = listText(found, 0, NOW, 80);
  expectNarrow(narrow);
  expect(narrow).toMatchSnapshot();
  const wide = listText(found, 0, NOW, 200).split("\n");
  expect(wide[1]).toContain("Muster Handelsgesellschaft mit beschränkter Haftung, CH …2606");
  expect(wide[1]).toMatch(/late 2d$/);
  expect(wide.every((one) => columnsOf(one) <= 200)).toBe(true);
  expect(narrow).not.toContain("\u001b");
  expect(listText({ runs: [], next: undefined, notes: [], totals: [], unlisted: [] }, 0)).toBe(
    "No run found.",
  );
});

it("prints a report with the states in which there is money", () => {
  const payee = { ...line, key: "mark-1", name: "Muster AG, CH", account: "2606" };
  const time = { since: NOW - 30 * 86_400_000, until: null };
  const report = {
    ...time,
    by: "payee",
    lines: [payee, { ...payee, state: "failed" }],
    totals: [line],
    unlisted: [{ ...line, key: "Recalled", state: "paid" }],
  } as const;
  expect(reportText(report, NOW)).toMatchSnapshot();
  const reasons = reportText({ ...report, by: "reason" }, NOW);
  expect(reasons).toMatch(/^All \d+ payments with a reason$/m);
  const none = reportText({
    by: null,
    since: null,
    until: null,
    lines: [],
    totals: [],
    unlisted: [],
  });
  expect(none).toBe("No payment found.");
  const long = { ...payee, name: null, account: null, key: "The account is closed. ".repeat(9) };
  expectNarrow(reportText({ ...report, by: "reason", lines: [long] }, NOW));
});

it("writes a line of CSV for each payment, and one for a run without any", () => {
  expect(runCsv(listed({ payments: [payment, payment] }))).toHaveLength(2);
  expect(runCsv(listed())[0]).toMatchObject({
    workflow_id: "invoice-17",
    money: "underWay",
    payout_id: "po-1",
    amount: "250.00",
    payee_account: "2606",
    word: "processing",
  });
  expect(runCsv(listed({ payments: [] }))).toMatchObject([
    { workflow_id: "invoice-17", amount: "" },
  ]);
});

const batch: BatchDetails = {
  id: "file-1",
  account: "a",
  type: "payout",
  file: "salaries.csv",
  contentHash: "c",
  rows: 22,
  state: "needsApproval",
  createdBy: "ada",
  createdAt: START,
  finishedAt: null,
  approvedBy: null,
  pausedBy: null,
  totals: [],
  outcome: "open",
  notPaid: [],
  notNamed: 0,
  warnings: [],
  notDuplicate: null,
  reason: null,
  listing: null,
  approvedAt: null,
  listed: null,
  next: [],
};

const row: FileListing["rows"][number] = {
  number: 3,
  workflowId: "row-3",
  fingerprint: "f",
  reference: null,
  payee: null,
  terms: "t",
  mark: null,
  shown: null,
  amount: "10.50",
  currency: "EUR",
  state: "started",
  message: null,
  isNew: false,
};

const outcome: BatchDetails["notPaid"][number] = {
  number: 3,
  workflowId: "row-3",
  status: "failed",
  state: "failed",
  operation: "createPayout",
  amount: "10.50",
  currency: "EUR",
  payee: "b-1",
  payeeName: "Example Supplies GmbH, DE",
  payeeAccount: "3000",
  paymentDate: null,
  reference: null,
  madeId: "po-3",
  holderId: null,
  startedAt: null,
  endedAt: null,
  word: "Failed",
  completedAt: null,
  reason: "The account is closed.",
};

const listing: FileListing = {
  hash: "0123456789abcdef0123456789abcdef",
  sums: [
    { currency: "EUR", amount: "9010.00" },
    { currency: "USD", amount: "34.80" },
  ],
  payees: 21,
  newPayees: 2,
  notFound: 1,
  problem: null,
  notListed: 20,
  rows: [
    {
      ...row,
      workflowId: "payout/nov-1",
      amount: "9000.00",
      reference: "Invoice 1",
      shown: "Example Supplies GmbH, DE, account ending in 3000",
      isNew: true,
    },
    { ...row, workflowId: "payout/nov-2", shown: "not found at the service", isNew: false },
  ],
};

it("shows a file's approver whom it pays, and how to approve exactly that", () => {
  const { hash } = listing;
  const warnings = ["Row 3 may be a duplicate of invoice-3 of 2026-11-22 10:00 UTC, done"];
  const about = { warnings, notDuplicate: "second delivery", reason: null };
  const next = [{ action: "approve", workflowId: "file-1", hash }] as const;
  const text = batchText({ ...batch, ...about, listing, next });
  expectNarrow(text);
  expect(text).toMatchSnapshot();
  const item: InboxItem = {
    ...question,
    kind: "batch",
    workflowId: "file-1",
    step: null,
    hash,
    next,
    file: { ...listing, ...about, type: "payout" },
  };
  const inbox = inboxText({ items: [item] }, NOW);
  expectNarrow(inbox);
  for (const part of ["9010.00 EUR, 34.80 USD to 21 payees", "NEW PAYEE", hash])
    expect(inbox).toContain(part);
});

it.each([
  [
    "onboardCardholder",
    "Onboards",
    "Together: card limits of 9010.00 EUR, 34.80 USD for 21 people.",
  ],
  ["repair", "Retries", "Together: 9010.00 EUR, 34.80 USD to 21 payees"],
])("speaks of the rows of a file as its type does: %s", (type, title, sums) => {
  const text = batchText({ ...batch, type, listing: { ...listing, newPayees: 0, notListed: 0 } });
  expect(text).toContain(`\n${title}\n`);
  expect(text.replaceAll(/\s+/g, " ")).toContain(sums);
  expect(text).not.toContain("Pays");
});

it("speaks of runs in a repair, gives its reason, and says why a run was left out", () => {
  const left = {
    ...outcome,
    status: "covered",
    state: "notPaid",
    reason: "Retried by bob.",
  } as const;
  const repair = { ...batch, type: "repair", state: "finished", reason: "lower limits" } as const;
  // A run that has paid a deposit may not know about its fee: neither is said of the other.
  const part = { status: "unknown", isCovered: false } as const;
  const totals = [
    { ...part, money: "paid", rows: 0, sums: [{ amount: "114.00", currency: "USD" }] },
    { ...part, money: "unknown", rows: 1, sums: [{ amount: "1.14", currency: "USD" }] },
  ] as const;
  const text = batchText({ ...repair, totals, notPaid: [left] }).replaceAll(/\s+/g, " ");
  expect(text).toContain("outcome unknown: paid 114.00 USD outcome unknown 1 1.14 USD");
  expect(text).toContain("reason lower limits");
  expect(text).toMatch(/left out;.* Retried by bob\./);
  expect(text).not.toMatch(/(this|another) file|no card|not paid/i);
  // The same words as in a list.
  const asked = (["approval", "asking", "missing"] as const).map((status) => ({
    ...totals[1],
    status,
  }));
  expect(batchText({ ...repair, totals: asked, notPaid: [] })).toMatch(
    /needs approval .*needs an answer .*not in Temporal /s,
  );
});

it("offers to pay the rows of a file that came back by a file with new keys: pay refuses --key for files", () => {
  const text = batchText({ ...batch, next: [{ action: "pay", isNewFile: true }] });
  expect(text).toMatch(
    /from a file with new keys:\n +durable-payments pay FILE --not-a-duplicate WHY --by NAME$/,
  );
});

it("says why a file waits for its payees", () => {
  const problem = "The payees cannot be read: the service answers 503";
  const unread = { ...listing, problem };
  expect(batchText({ ...batch, state: "reading", listing: unread })).toContain(problem);
});

it("names the rows of a plan that an earlier file has not paid", () => {
  const known = (["paid", "failed", "planned"] as const).map((money, at) => ({
    number: at + 2,
    batch: "payouts/1",
    money,
  }));
  expect(knownLines({ known, type: "payout" })).toEqual([
    "3 rows already covered by another batch: not started again",
    "2 of them not successful there: row 3 (failed), row 4 (not sent yet)",
  ]);
  expect(knownLines({ known: known.slice(0, 1), type: "payout" })).toHaveLength(1);
  expect(knownLines({ known, type: "onboardCardholder" })).toEqual([
    "3 rows already covered by another batch: not started again",
    "2 of them not successful there: row 3 (failed), row 4 (not issued yet)",
  ]);
});

it("says that a row which an earlier file has paid is paid, and why another one is not", () => {
  const text = batchText({
    ...batch,
    rows: 3,
    state: "finished",
    finishedAt: START,
    approvedBy: "bob",
    approvedAt: START + 60_000,
    notPaid: [
      { ...outcome, number: 4, status: "covered", state: "paid", reason: "In payouts/4d34." },
      outcome,
    ],
    notNamed: 3,
    warnings: ["Row 3 may be a duplicate of invoice-3 of 2026-11-22 10:00 UTC, done"],
    outcome: "notPaid",
    totals: [
      {
        money: "paid",
        isCovered: false,
        rows: 1,
        sums: [
          { currency: "EUR", amount: "20.00" },
          { currency: "USD", amount: "7.00" },
        ],
      },
      { money: "failed", isCovered: false, rows: 1, sums: [{ currency: "EUR", amount: "10.50" }] },
      { money: "paid", isCovered: true, rows: 1, sums: [{ currency: "EUR", amount: "10.50" }] },
    ],
    next: [
      {
        action: "retryAll",
        batch: "file-1",
      },
    ],
  });
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

const started = { type: "payout", content: "c", needsApproval: true, approveAbove: "100.00" };

const said = (
  ...all: ReadonlyArray<readonly [kind: DecisionKind, value: JsonObject]>
): RunLog["lines"] =>
  all.map(([kind, value], index) => ({
    account: "a",
    workflowId: "invoice-17",
    step: null,
    at: START,
    sequence: 3 + index,
    kind,
    question: null,
    by: "grace",
    how: "PAYMENTS_PERSON",
    reason: "checked",
    value,
  }));

it("prints the log: who did what, decisions among them, and whether it was edited", () => {
  const log: RunLog = {
    workflowId: "invoice-17",
    names: { "b-2": "Mallory SARL, FR", "b-1": null },
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
      ...said(
        ["start", { ...started, file: { batch: "payouts/4d34", row: 3, name: "november.csv" } }],
        ["start", { file: "november.csv", rows: 2, sums: { EUR: "9.00" }, approveAbove: "1.00" }],
        ["start", { file: "failed runs", runs: 24, sums: [] }],
        ["approve", { account: "m", file: "payouts/4d34", seen: "9.00 EUR to Muster AG, CH" }],
        [
          "approve",
          {
            account: "m",
            seen: "9.00 EUR is above 1.00 EUR. It pays Muster AG, CH.",
            hash: "89ab",
          },
        ],
        ["approve", { rows: 2, hash: "0123", seen: "9.00 EUR to 2 payees" }],
        ["reject", {}],
        ["cancel", {}],
        ["end", { rejected: true }],
        ["overrule", { end: 3 }],
        ["resend", {}],
        ["found", { id: "p-1" }],
        ["pause", { scope: "all", of: "" }],
        ["resume", { scope: "batch", of: "payouts/4d34" }],
        ["retry", { way: "start" }],
        ["amend", { changed: ["payout.amount: 100.00 → 250.00", "beneficiary_id: b-1 → b-2"] }],
        ["limits", { maxAmounts: { EUR: "9.00" }, approveAbove: null }],
        ["approve", { sequence: 3 }],
      ),
    ],
  };
  expect(logText({ ...log, verification: { isIntact: true, lines: 2 } })).toMatchSnapshot();
  expect(logText({ ...log, verification: { isIntact: false, sequence: 2 } })).toContain(
    "EDITED: entry 2",
  );
  const details = { reason: "old" };
  const pruned = { sequence: 3, at: START, step: "", who: "ada", what: "texts removed", details };
  expect(logText({ ...log, lines: [pruned] })).toContain("  texts removed, by ada: reason old");
});

it("shows problems of one kind as one item, with their number and sum", () => {
  const late: InboxItem = {
    ...question,
    kind: "late",
    step: null,
    choices: {},
    candidates: [],
    things: { count: 500, money: [{ currency: "EUR", amount: "3752.50" }] },
    next: [{ action: "show", workflowId: "invoice-17" }],
  };
  const text = inboxText({ items: [late] }, NOW);
  expectNarrow(text);
  expect(text).toContain("1 problem");
  expect(text).toContain("500 payments, 3752.50 EUR");
  expect(text.split("\n").at(-1)).toBe("   durable-payments show invoice-17");
});

const fine: ShownOverview = {
  inbox: [],
  failed: 0,
  cameBack: 0,
  underWay: { payouts: 0, money: [] },
  next: [],
  checks: [],
};
const check = (status: "warning" | "failed", name = "a") => [{ name, status, detail: "b" }];
const question3 = { kind: "question", count: 3, money: [] } as const;

it.each<[Partial<ShownOverview>, string]>([
  [{}, "Everything is fine."],
  [{ inbox: [question3] }, "3 things need a person."],
  [{ failed: 1 }, "1 run failed."],
  [{ cameBack: 1 }, "1 payout came back."],
  [{ checks: check("warning", "sends") }, "Sends are paused. 1 warning."],
  [{ checks: check("warning") }, "1 warning."],
  [
    { inbox: [{ ...question3, count: 1 }], checks: check("failed") },
    "1 thing needs a person. 1 check failed.",
  ],
])("says in its first line whether everything is fine: %j", (seen, first) => {
  expect(overviewText({ ...fine, ...seen }).split("\n")[0]).toBe(first);
});

it("prints everything at a glance", () => {
  const money = [{ group: "payouts" as const, currency: "EUR", amount: "500.00" }];
  const text = overviewText({
    ...fine,
    inbox: [question3, { kind: "batch", count: 1, money }, { kind: "late", count: 2, money }],
    failed: 1,
    cameBack: 2,
    underWay: { payouts: 2, money },
    next: [{ action: "inbox" }, { action: "list", isLate: true }],
    checks: [
      { name: "service", status: "warning", detail: "slow: http://service answers in 9000 ms" },
      { name: "worker", status: "ok", detail: '1 on "payments"' },
      { name: "sends", status: "warning", detail: "all sends paused by bob: audit" },
    ],
  });
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
        next: { action: "startWorker" },
      },
      { name: "limits", status: "warning", detail: "none", remedy: "Set PAYMENTS_MAX_AMOUNTS." },
    ],
  });
  expectNarrow(text);
  expect(text).toMatchSnapshot();
});

it.each([
  [["ok"], "All checks passed."],
  [["ok", "warning", "warning"], "No check failed, 2 warnings."],
] as const)("the last line of the doctor counts warnings: %j", (statuses, last) => {
  const checks = statuses.map((status) => ({ name: "a", status, detail: "b" }));
  expect(doctorText({ isWell: true, checks }).split("\n").at(-1)).toBe(last);
});

it("labels what a recovery has found, and completes its commands", () => {
  vi.stubEnv("PAYMENTS_PERSON", "");
  const text = recoveryText({
    ledger: { ledgerId: "l", epoch: 1, sequence: 1, namespace: null, now: NOW, stopped: null },
    isPaused: true,
    unknown: 0,
    taken: { runs: ["invoice-30"], writes: 1, others: [] },
    ends: ["invoice-30"],
    waits: 0,
    files: [],
    repairs: [{ id: "repairs/1", file: "repairs/1", rows: 1, type: "repair" }],
    unfinished: [{ workflowId: "invoice-30", type: "payout" }],
    followed: 0,
    mark: undefined,
  });
  expect(text).toContain("1 run that only Temporal remembers\n    invoice-30\n");
  expect(text).toContain("1 stop order that only Temporal remembers\n    invoice-30\n");
  expect(text).toContain("durable-payments pay INPUT --id invoice-30 --by NAME");
  expect(text).toContain("durable-payments cancel repairs/1 --reason WHY --by NAME");
});
