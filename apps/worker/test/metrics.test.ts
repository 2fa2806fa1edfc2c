// A metric that an alert uses and no worker exports is silent: nobody is paged. So the metrics of a worker with two accounts are
// compared with docs/metrics.md, the alerts and the dashboard.
import { newRow, openLedger } from "@durable-payments/ledger";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig, settingsFile } from "./support/rig.ts";

const read = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");

const BATCH = "payouts/4d34";

const HOUR_MS = 3_600_000;

const { eu, folder, seal, startPayout, startWorker } = await makeRig({ settleAfter: HOUR_MS });
const place = `sqlite:${join(folder.path, "ledger.sqlite")}` as const;
const ledger = await openLedger(place, { seal });
afterAll(() => ledger.close());

/** These appear where there is something to show: a credential that expires, or a keyring. */
const CONDITIONAL = [
  "payments_credential_expiry_timestamp_seconds",
  "payments_codec_payloads_total",
];

/** The metrics that a table, rules or panels name. */
const namesIn = (text: string): ReadonlyArray<string> => [
  ...new Set(
    [...text.matchAll(/\b(?:payments|temporal)_[a-z_]+/g)].map(([name]) =>
      name.replace(/_(?:bucket|sum|count)$/, ""),
    ),
  ),
];

/** Of an account that only another worker serves: nothing changes these rows. */
const OTHER = "0123456789abcdef";

const recordOther = async () => {
  const request = { amount: "9.50", currency: "EUR", payee: "b-1", reference: null };
  const start = { account: OTHER, runId: null, type: "payout", batch: null, batchRow: null };
  const by = { by: "ada", how: "--by", value: { type: "payout", content: "c" } };
  const startRun = (workflowId: string) =>
    ledger.recordStart({ ...start, ...request, workflowId }, by);
  const endRun = (workflowId: string, endState: "failed" | "missing" | "succeeded") =>
    ledger.recordEnds([
      { workflowId, endState, runId: null, endedAt: Date.now(), endType: null, endReason: null },
    ]);
  const pay = async (workflowId: string, paymentDate: string | null) => {
    await startRun(workflowId);
    const name = { account: OTHER, workflowId, step: "createPayout" };
    const call = {
      name,
      ownerId: workflowId,
      rootId: workflowId,
      operation: "createPayout",
      request: { ...request, hash: workflowId, terms: "t", paymentDate, facts: {} },
      runId: "run-1",
    };
    await ledger.transact(name, (look) => ({
      row: {
        ...newRow(look, call),
        state: "done",
        sends: 1,
        firstSentAt: look.now,
        from: look.now,
        madeId: workflowId,
        result: {},
        knownBy: "answer",
      },
    }));
    await endRun(workflowId, "succeeded");
  };
  const see = (id: string, word: string, outcome: "returned" | null, problem: string | null) =>
    ledger.sawPayout(OTHER, id, { word, outcome, problem, asks: word === "Paid out" });
  await pay("late-1", "2026-01-02");
  await pay("late-2", "2026-01-02");
  await pay("worded", null);
  await see("worded", "Paid out", null, null);
  await pay("hidden", null);
  await see("hidden", "", null, "HTTP 404");
  await pay("came-back", null);
  await see("came-back", "Returned", "returned", null);
  await startRun("lost");
  await endRun("lost", "missing");
  await startRun("failed");
  await endRun("failed", "failed");
};

let text = "";
let shown: ReadonlyArray<string> = [];

/** One run fails, one waits for its payout, one for its approval; a file waits for its approval, too. */
beforeAll(async () => {
  const file = settingsFile(folder.path, {
    ledger: place,
    approveAbove: { EUR: "100.00" },
    accounts: {
      eu: {
        baseUrl: eu.url,
        clientId: eu.clientId,
        apiKey: eu.apiKey,
        requestsPerSecond: 500,
        approveAbove: { EUR: "1000.00" },
      },
    },
  });
  await recordOther();
  const worker = await startWorker({ ...file, PAYMENTS_HEALTH_ADDRESS: "0" });
  const ofEu = { ...payoutInput, account: "eu" };
  await eu.addFault({ kind: "refusal-in-200", operation: "createBeneficiary" });
  await expect((await startPayout("refused", ofEu)).result()).rejects.toThrow("failed");
  await startPayout("waits", ofEu);
  await startPayout("asks");
  const account = (await ledger.rowsOf("refused"))[0]?.account ?? "";
  const limit = (of: string, amount: string) =>
    ledger.setLimits(
      of,
      { maxAmounts: null, approveAbove: { EUR: amount } },
      { by: "ada", how: "--by", reason: "first limits" },
    );
  await limit(account, "1000.00");
  await vi.waitFor(async () => expect(await ledger.rowsOf("asks")).not.toEqual([]));
  await limit((await ledger.rowsOf("asks"))[0]?.account ?? "", "100.00");
  await ledger.saveBatch(BATCH, () => ({
    batch: {
      id: BATCH,
      account,
      type: "payout",
      file: "november.csv",
      contentHash: "hash",
      rows: 1,
      state: "needsApproval",
      createdBy: "ada",
      createdAt: 0,
      approvedBy: null,
      details: "{}",
      chunks: 1,
    },
  }));
  const row = {
    number: 1,
    workflowId: "row-1",
    fingerprint: "print",
    amount: "1.00",
    currency: "EUR",
  };
  await ledger.saveRows(BATCH, [
    {
      ...row,
      reference: null,
      payee: null,
      terms: "t",
      mark: "m",
      shown: "Ltd",
      state: "waiting",
      message: null,
    },
  ]);
  await vi.waitFor(
    async () => {
      expect((await ledger.overview()).waits).toHaveLength(1);
      expect(await ledger.rows({ needsPerson: true })).toHaveLength(1);
    },
    { timeout: 60_000, interval: 100 },
  );
  // The core of the SDK counts a failed run a little later.
  await vi.waitFor(
    async () => {
      text = await (await fetch(`http://${String(worker.ready["health"])}/metrics`)).text();
      shown = namesIn([...text.matchAll(/^[a-z_]+/gm)].join("\n"));
      expect(shown).toContain("temporal_workflow_failed_total");
      expect(shown).toContain("payments_batch_next_row");
    },
    { timeout: 60_000, interval: 500 },
  );
});

it("a worker exports the metrics of docs/metrics.md", () => {
  const rows = [...read("docs/metrics.md").matchAll(/^\| `(payments_\w+)`/gm)];
  const documented = rows.map(([, name = ""]) => name);
  const own = shown.filter((name) => !name.startsWith("temporal_"));
  expect(own.filter((name) => !documented.includes(name))).toEqual([]);
  const missing = documented.filter((name) => !own.includes(name));
  expect(missing.filter((name) => !CONDITIONAL.includes(name))).toEqual([]);
});

it.each(["deploy/prometheus/alerts.yaml", "deploy/grafana/dashboards/payments.json"])(
  "a worker exports every metric of %s",
  (file) => {
    const used = namesIn(read(file));
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !shown.includes(name) && !CONDITIONAL.includes(name))).toEqual([]);
  },
);

it("metrics have the limits of each account, and nothing else that a row of limits has", () => {
  expect(text.match(/^payments_limit\{.*$/gm)).toHaveLength(2);
  expect(text).not.toContain("NaN");
});

/** A line with its labels in order. */
const sorted = (line: string): string =>
  line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(/, ?/).toSorted().join(",")}}`);

it.each([
  `payments_questions{kind="approval"} 1`,
  `payments_questions{kind="late"} 0`,
  `payments_questions{kind="unserved"} 0`,
  `payments_questions{account="${OTHER}",kind="late"} 2`,
  `payments_question_amount{account="${OTHER}",kind="late",currency="EUR"} 19`,
  `payments_questions{account="${OTHER}",kind="word"} 1`,
  `payments_questions{account="${OTHER}",kind="unreadable"} 1`,
  `payments_questions{account="${OTHER}",kind="missing"} 1`,
  `payments_recent_failures{account="${OTHER}",kind="failed"} 1`,
  `payments_recent_failures{account="${OTHER}",kind="returned"} 1`,
  `payments_recent_failures{kind="returned"} 0`,
  `payments_questions{account="eu",kind="approval"} 1`,
  `payments_question_amount{kind="approval",currency="EUR"} 250`,
  `payments_waits{account="eu",kind="payout"} 1`,
  `payments_limit{kind="approveAbove",currency="EUR"} 100`,
  `payments_limit{account="eu",kind="approveAbove",currency="EUR"} 1000`,
  `payments_batch_next_row{account="eu",batch="${BATCH}",state="needsApproval"} 1`,
  `payments_ready{account="eu",check="signIn"} 1`,
  `payments_request_rate_limit{account="eu"} 500`,
  `payments_failures_total{type="Refused"} 1`,
])("metrics say of each account what is open: %s", (wanted) => {
  expect(text.split("\n").map(sorted)).toContain(sorted(wanted));
});

it("the oldest approval of an account is that of its file, if nothing else waits", () => {
  const [, age = ""] =
    /^payments_question_oldest_seconds\{account="eu",kind="approval"\} (.*)$/m.exec(text) ?? [];
  expect(Number(age)).toBeGreaterThan(0);
});
