import { messageOf } from "@durable-payments/api-core/values";
import { invalidInput } from "@durable-payments/operations/errors";
import type { ListedRun, RunGroup } from "@durable-payments/operations/runs";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { auditText } from "../src/output/audit-text.ts";
import { batchListLayout } from "../src/output/batch-list-text.ts";
import { forgottenText } from "../src/output/forgotten-text.ts";
import { batchText } from "../src/output/batch-text.ts";
import { deliveryText } from "../src/output/delivery-text.ts";
import { doctorText } from "../src/output/doctor-text.ts";
import { reportError } from "../src/output/error-report.ts";
import { fixText } from "../src/output/fix-text.ts";
import { inDoubtText, waitingRunsText } from "../src/output/human-task-text.ts";
import { dryRunText } from "../src/output/import-text.ts";
import { processOutput } from "../src/output/output.ts";
import { progressLines } from "../src/output/progress-lines.ts";
import { recoveryText } from "../src/output/recovery-text.ts";
import { replayLayout } from "../src/output/replay-text.ts";
import { retriesText, retryText, toRetryText } from "../src/output/retry-text.ts";
import { groupsText, runListLayout } from "../src/output/run-list-text.ts";
import { reportText } from "../src/output/run-report-text.ts";
import { answerList } from "../src/output/stream.ts";
import { columnsOf } from "../src/output/text.ts";
import { timelineText } from "../src/output/timeline-text.ts";
import { visible } from "../src/output/visible.ts";

// As the command does, for a replay alone.
const { differenceText } = await import("@durable-payments/replay");

let written: Array<string>;
beforeEach(() => {
  written = [];
  const keep = (text: unknown) => written.push(String(text)) > 0;
  vi.spyOn(process.stdout, "write").mockImplementation(keep);
  vi.spyOn(process.stderr, "write").mockImplementation(keep);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const at = "2026-11-22T10:00:00.000Z";
const next = { operation: "describe", workflowId: "id" } as const;
const run = {
  workflowId: "id",
  runId: "run",
  type: "payout",
  firstStartedAt: at,
  startedAt: at,
  closedAt: at,
};
const askedToEnd = { at, by: "text", reason: "text" };
const payment = { amount: "1.00", currency: "EUR", payee: "text" };
const row = { text: "text", deep: { list: ["text", { text: "text" }] }, number: 1, none: null };
const attention = {
  question: "q",
  step: "createPayout",
  operation: "createPayout",
  reason: "reason",
  sent: row,
  toSend: row,
  candidates: [row],
  actions: ["found", "resend", "abandon"],
  consequences: { found: "text", resend: "text" },
  idsWanted: ["payout_id"],
  since: at,
};
const approval = { hash: "h", payment: row, startedBy: "Ada", since: at };
const step = { name: "createPayout", status: "running", since: at, note: "note" };
const progress = {
  workflow: "payout",
  stage: "createPayout",
  steps: [step],
  ids: { payout_id: "text" },
  shown: { funds: row, approval },
  notes: ["text"],
  attention,
};
const inDoubt = [
  {
    step: "createPayout",
    operation: "createPayout",
    ids: { id: "text" },
    key: "k",
    amount: "1",
    currency: "EUR",
    beneficiary_id: "text",
    payee: "text",
    payout_reference: "text",
    candidates: [{ payout_id: "text", payout_reference: "text" }],
  },
];
const retry = { operation: "retry", workflowId: "id" };
const activity = { kind: "activity", activity: "a", summary: "text", since: at, until: null };
const pause = { by: "Ada", why: "text", since: at };
const frame = { file: "text", line: 1, column: 1, source: "text" };

const listed: ListedRun = {
  ...run,
  state: "failed",
  stage: "text",
  awaits: ["text"],
  since: at,
  startedBy: "Ada",
  payment,
  payouts: { file: "text", rows: 1, totals: { EUR: "1.00" } },
  currency: "EUR",
  failure: { type: "T", message: "text" },
  paymentIds: ["text"],
  batch: null,
};

const groups: ReadonlyArray<RunGroup> = [
  {
    type: "payout",
    state: "failed",
    stage: "text",
    reason: "text",
    count: 1,
    totals: { EUR: "1.00" },
    example: "id",
  },
];

const batch = {
  ...run,
  state: "failed",
  stage: "s",
  startedBy: "Ada",
  file: "text",
  rows: 2,
  totals: { EUR: "1.00" },
  fileTotals: { EUR: "2.00" },
  amendedRows: 1,
  failure: { type: "T", message: "text" },
  progress: { started: 1, known: 0, conflicting: 0, done: 1, paused: pause },
  runs: { completed: 0, failed: 1, asking: 1 },
  others: null,
};

/** What each command shows, with a text in each place that has one from outside. */
const settled = [
  { step: "text", by: "Ada", at, reason: "text", found: { payout_id: "text" } },
  { step: "text", by: "Ada", at, reason: "text", found: null },
];

const SHOWN: Readonly<Record<string, readonly [data: unknown, text: (shown: never) => string]>> = {
  audit: [
    {
      workflowId: "id",
      runId: "run",
      entries: [{ at, who: "Ada", step: "s", what: "w", key: "k", detail: row }],
    },
    auditText,
  ],
  "payouts status": [batch, batchText],
  "payouts list": [
    {
      ...run,
      file: "text",
      rows: 2,
      totals: { EUR: "1.00" },
      fileTotals: null,
      amendedRows: 0,
      runs: { completed: 0, failed: 1 },
      state: "failed",
      startedBy: "Ada",
    },
    batchListLayout.row,
  ],
  payout: [
    {
      workflowId: "id",
      state: "forgotten",
      isNew: false,
      isDone: false,
      sends: [
        {
          step: "text",
          operation: "text",
          outcome: "carriedOut",
          ids: { payout_id: "text" },
          begunAt: at,
          amount: "text",
          currency: "text",
        },
      ],
    },
    forgottenText,
  ],
  doctor: [
    {
      checks: [
        { name: "journal", status: "failed", detail: "text", remedy: "text" },
        { name: "server", status: "failed", detail: "text", next },
      ],
      views: [{ name: "text", query: "text", link: "text" }],
    },
    doctorText,
  ],
  "notify test": [
    { isDelivered: false, host: "text", status: 500, tookMs: 1, why: "text" },
    deliveryText,
  ],
  "doctor --fix": [
    [[{ name: "text", type: "text" }], { address: "text", namespace: "text" }],
    ([registered, place]: Parameters<typeof fixText>) => fixText(registered, place),
  ],
  attention: [
    [
      { ...run, payment, attention },
      { ...run, payment, attention: null, approval },
      { ...run, payment: null, attention: null, noProgress: { message: "text", next } },
    ],
    waitingRunsText,
  ],
  "attention, in doubt": [
    [
      { ...run, inDoubt, retry },
      { ...run, inDoubt, unread: "text" },
    ],
    inDoubtText,
  ],
  "payouts import --dry-run": [
    [
      { batch: "text", rows: 1 },
      [{ currency: "EUR", total: "1.00", available: null, isEnough: null, problem: "text" }],
      {
        known: 0,
        new: 1,
        newTotals: { EUR: "1.00" },
        newRows: "text",
        paidBefore: null,
        whyNoJournal: "text",
        inDoubt: 1,
        rejected: [],
        retentionMs: 1,
      },
    ],
    ([checked, funds, found]: Parameters<typeof dryRunText>) => dryRunText(checked, funds, found),
  ],
  watch: [
    progress,
    (shown: Parameters<typeof progressLines>[2]) =>
      progressLines({ workflowId: shown.stage, runId: shown.stage }, undefined, shown).join("\n"),
  ],
  recover: [
    {
      since: at,
      journal: "text",
      running: [],
      ended: [],
      isClear: false,
      pause,
      lost: [
        {
          workflowId: "id",
          hasEndedRun: false,
          reconciliation: "unclear",
          sends: [{ ...inDoubt[0], begunAt: at, service: "text", reconciliation: "made" }],
        },
      ],
      unrecorded: [{ workflowId: "id", steps: [{ step: "text" }] }],
    },
    (shown: Parameters<typeof recoveryText>[0]) => recoveryText(shown, false),
  ],
  "runs replay": [
    {
      workflowId: "id",
      type: "payout",
      events: 3,
      deterministic: false,
      message: "text",
      difference: {
        event: { id: 1, type: "TEXT_TEXT", name: "text" },
        stack: [frame],
        waitsAt: [frame],
      },
    },
    replayLayout(differenceText).row,
  ],
  "runs retry": [
    {
      workflowId: "id",
      endedRunId: "run",
      runId: "run",
      plan: {
        from: "text",
        eventId: 1,
        stays: ["text"],
        again: [{ name: "text", note: "text" }],
        amended: ["text"],
        overruled: [{ by: "Ada", what: "text", why: "text" }],
      },
    },
    retryText,
  ],
  "runs retry --failed": [
    {
      count: 1,
      runs: [
        { workflowId: "id", status: "failed", runId: null, from: "text", reason: "text", next },
      ],
    },
    retriesText,
  ],
  "runs retry --failed, asked": [
    [listed],
    (runs: Parameters<typeof toRetryText>[1]) =>
      toRetryText("1 failed run", runs, { address: "address", namespace: "default" }),
  ],
  "runs list": [listed, runListLayout.row],
  "runs list --group": [groups, groupsText],
  status: [
    {
      ...run,
      state: "failed",
      stage: "text",
      since: at,
      askedToEnd,
      startedBy: "Ada",
      payment,
      stepsFrom: "history",
      steps: [{ ...step, state: "running" }],
      ids: { payout_id: "text" },
      paymentIds: ["text"],
      namedIds: [{ name: "text", id: "text" }],
      pending: [{ activity: "text", attempt: 2, message: "text" }],
      shown: { funds: row, approval },
      attention,
      noProgress: { message: "text", next },
      result: row,
      failure: { type: "T", message: "text", details: row },
      inDoubt,
      settled,
      retry,
      batch,
      webUi: "text",
      notes: ["text"],
    },
    reportText,
  ],
  "runs show": [
    {
      ...run,
      summary: "text",
      state: "failed",
      askedToEnd,
      startedBy: "Ada",
      currency: "EUR",
      paymentIds: ["text"],
      namedIds: [{ name: "text", id: "text" }],
      resetFrom: { runId: "run", at, reason: "text" },
      laterRun: "text",
      steps: [
        {
          ...step,
          state: "failed",
          until: null,
          tookMs: null,
          events: [
            {
              ...activity,
              outcome: "failed",
              attempts: 2,
              failure: { type: "T", message: "text" },
              tookMs: 1,
              nextAttemptAt: null,
            },
            { kind: "timer", summary: "text", since: at, until: null, tookMs: null },
            { kind: "leftOver", what: "text", at },
            { kind: "update", name: "text", at, by: "Ada", what: "text" },
            { kind: "signal", name: "text", at },
          ],
        },
      ],
      result: row,
      failure: { type: "T", message: "text", details: row },
      settled,
      inDoubt,
      batch,
      workerFault: "text",
      next: [{ ...next, why: "text" }],
      noRetry: "text",
      webUi: "text",
    },
    timelineText,
  ],
};

const isMeant = (text: string): boolean =>
  Object.values(SHOWN).length > 0 &&
  /^\d{4}-\d\d-\d\dT|^(?:\d+(?:\.\d+)?|retry|describe|activity|timer|leftOver|update|signal|failed|running|found|resend|abandon|history|made|unclear|payout|createPayout|carriedOut)$/.test(
    text,
  );

/** The data, with what is hostile behind each of their texts. */
const poisoned = (value: unknown, poison: string): unknown => {
  if (typeof value === "string") return isMeant(value) ? value : `${value}${poison}`;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, poison));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      value === row ? `${name}${poison}` : name,
      poisoned(field, poison),
    ]),
  );
};

/** The data, each sentence of a run in them with a command. */
const advising = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(advising);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === "string" && ["message", "note", "notes", "reason"].includes(name)
        ? `${field} (starter settle id)`
        : advising(field),
    ]),
  );
};

it.each(Object.keys(SHOWN))(
  "speaks of commands by the name that the starter was called by: %s",
  (command) => {
    vi.stubEnv("STARTER_COMMAND", "./starter");
    const [sample, text] = SHOWN[command]!;
    // Its renderer takes what its sample has.
    processOutput(false).answer(advising(sample) as object, text as (shown: object) => string);
    expect(written.join("").replaceAll(/\s+/g, " ")).not.toContain("(starter settle");
  },
);

it("leaves alone what is no sentence of a run", () => {
  vi.stubEnv("STARTER_COMMAND", "./starter");
  const run = { workflowId: "(starter settle id)" };
  expect(visible({ ...run, reason: "(starter settle id)" })).toEqual({
    ...run,
    reason: "(./starter settle id)",
  });
});

const FORGED = "FORGED";
const HOSTILE = [
  "\u001b[2K",
  "\u001b]52;c;aGk=\u0007",
  "\u009b1A",
  "\r",
  "\n",
  "\u202e",
  "\u200b",
  "\u00a0",
  "\u{1d159}",
  "\u0301",
  "\u20dd",
  "x".repeat(70),
  "\ud83d",
  "\ufff0",
  "\ufff8",
  "\ufdd0",
  "\u2028",
  "\\u{a}",
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", maxLength: 2 })))
  .map((parts) => `${parts.join("").replaceAll(/\s(?<!\n)/g, "")}\n${FORGED}`);

const isVisible = (text: string): boolean =>
  !/(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{1D159}]|\p{Mn}{3}|\p{Me}/u.test(text);

/** Whether a line goes on with a word that has filled the line before, but for less than one written out. */
const isRestOf = (line: string, before: string): boolean =>
  line.startsWith("  ") && columnsOf(before) > 80 - "\\u{10ffff}".length;

const hasForgedLine = (text: string): boolean =>
  text
    .split("\n")
    .some(
      (line, index, lines) =>
        line.trim().startsWith(FORGED) && !isRestOf(line, lines[index - 1] ?? ""),
    );

it.each(Object.keys(SHOWN))(
  "shows nothing hostile, and no line that data have forged: %s",
  (command) => {
    const [sample, text] = SHOWN[command]!;
    fc.assert(
      fc.property(hostile, (poison) => {
        written = [];
        const data = poisoned(sample, poison);
        // Its renderer takes what its sample has.
        processOutput(false).answer(data as object, text as (shown: object) => string);
        const shown = written.join("");
        expect(shown.replaceAll(/\s/g, "")).toContain(FORGED);
        expect(isVisible(shown)).toBe(true);
        expect(hasForgedLine(shown)).toBe(false);
        written = [];
        processOutput(true).answer(data as object, () => "");
        expect(isVisible(written.join(""))).toBe(true);
        // What is no whole character is escaped as such.
        expect(JSON.parse(written.join(""))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
      { numRuns: 30 },
    );
  },
);

it("shows nothing hostile of the items of a list", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (poison) => {
      const items = async function* () {
        yield { text: poison };
      };
      const layout = { field: "all", limit: 9, head: () => "HEAD", none: "", more: () => "" };
      for (const json of [false, true]) {
        written = [];
        await answerList(processOutput(json), items(), { ...layout, row: ({ text }) => text });
        expect(isVisible(written.join(""))).toBe(true);
        expect(hasForgedLine(written.join(""))).toBe(false);
      }
    }),
  );
});

it("shows nothing hostile of an error, whatever it repeats", () => {
  fc.assert(
    fc.property(hostile, (poison) => {
      const errors = [
        invalidInput(poison, [{ field: poison, problem: poison }], { ...next, workflowId: poison }),
        new Error(poison),
        poison,
      ];
      for (const error of errors) {
        written = [];
        reportError(processOutput(false), error);
        expect(isVisible(written.join(""))).toBe(true);
        expect(hasForgedLine(written.join(""))).toBe(false);
      }
    }),
  );
});

it("shows nothing hostile, whatever writes past the data", () => {
  fc.assert(
    fc.property(hostile, (poison) => {
      const output = processOutput(false);
      output.say(poison);
      output.answer({}, () => poison);
      expect(isVisible(written.join(""))).toBe(true);
    }),
  );
});

it("shows data that have no text as they are", () => {
  const date = new Date(0);
  expect(visible({ date, number: 1, none: null, missing: undefined })).toEqual({
    date,
    number: 1,
    none: null,
    missing: undefined,
  });
  expect(messageOf(visible(new Error("x")))).toBe("x");
});
