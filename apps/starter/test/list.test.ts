import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newRow, openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { batchOf } from "./support/recorded.ts";
import { runCli } from "./support/run-cli.ts";
import { statusesIn } from "../src/output/run-text.ts";

// Nothing listens at port 9: the ledger alone knows what was paid.
const folder = mkdtempSync(join(tmpdir(), "starter-list-"));
afterAll(() => rmSync(folder, { recursive: true }));
const place = `sqlite:${join(folder, "ledger.sqlite")}` as const;

/** More than one part of CSV. */
const PAYOUTS = 503;

beforeAll(async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  for (let number = 1; number <= PAYOUTS; number++) {
    const payee = number % 2 === 0 ? "b-1" : "mark-1";
    await ledger.recordStart(
      {
        account: "a",
        workflowId: `invoice-${number}`,
        runId: null,
        type: "payout",
        batch: null,
        batchRow: null,
        amount: "0.10",
        currency: "EUR",
        payee,
        reference: `=1+${number}`,
      },
      { by: "ada", how: "--by", value: { type: "payout", content: "c" } },
    );
  }
  const shown = "Muster AG, CH, account ending in 2606";
  await ledger.rememberPayees("a", [
    { payee: "b-1", mark: "mark-1", shown },
    { payee: "mark-1", mark: "mark-1", shown },
  ]);
  // The file of the documents.
  const file = "payouts/189d25ed7d10a969b77f83934244e307";
  await ledger.saveBatch(file, () => batchOf(file, "november.csv"));
  await ledger.close();
});

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  vi.stubEnv("PAYMENTS_CLIENT_ID", "client");
  vi.stubEnv("PAYMENTS_LEDGER", place);
  return () => vi.unstubAllEnvs();
});

const COMMANDS = Array.from(
  readFileSync(new URL("../../../docs/what-did-we-pay.md", import.meta.url), "utf8").matchAll(
    /^durable-payments (.+)$/gm,
  ),
  ([, line = ""]) => line,
);

it.each(COMMANDS)("does as the documents say: durable-payments %s", async (line) => {
  const words = Array.from(
    line.matchAll(/'([^']*)'|(\S+)/g),
    ([, quoted, word]) => quoted ?? word ?? "",
  );
  expect(await runCli(...words)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\S/),
  });
});

it("adds up all that matches, shows a page, and says that progress is unknown", async () => {
  const { code, stdout } = await runCli("list", "--payee", "2606", "--limit", "3");
  expect(code).toBe(0);
  expect(stdout.match(/^invoice-/gm)).toHaveLength(3);
  expect(stdout).toContain("50.30 EUR");
  expect(stdout).toContain("Cannot connect to Temporal");
  expect(stdout).toContain("There are more");
});

it("calls a payout late as the settings say", async () => {
  const own = `sqlite:${join(folder, "late.sqlite")}` as const;
  const ledger = await openLedger(readLedgerPlace(own, ""));
  const name = { account: "a", workflowId: "late", step: "createPayout" };
  const paymentDate = new Date(Date.now() - 5 * 86_400_000).toISOString().slice(0, 10);
  const payment = { amount: "9.00", currency: "EUR", payee: "b-1", reference: null, paymentDate };
  const call = {
    name,
    ownerId: "late",
    rootId: "late",
    operation: "createPayout",
    request: { ...payment, hash: "h", terms: "t", facts: {} },
    runId: "run-1",
  };
  await ledger.transact(name, (look) => ({
    workflowType: "payout",
    row: { ...newRow(look, call), state: "done", madeId: "p-1", result: {}, knownBy: "answer" },
  }));
  await ledger.close();
  vi.stubEnv("PAYMENTS_LEDGER", own);
  expect((await runCli("inbox")).stdout).toContain("their payment date has passed");
  const late = await runCli("list", "--late");
  expect(late.stdout).toContain("late 3");
  const file = join(folder, "settings.json");
  writeFileSync(file, JSON.stringify({ notify: { lateAfterHours: 240 } }));
  vi.stubEnv("PAYMENTS_SETTINGS", file);
  expect((await runCli("inbox")).stdout).not.toContain("their payment date has passed");
  expect((await runCli("list", "--late")).stdout).toContain("No run found");
});

it("prints every payment as CSV, once, without formulas", async () => {
  const { stdout } = await runCli("list", "--csv");
  const [head = "", ...lines] = stdout.trimEnd().split("\n");
  expect(head.split(",")).toEqual([
    "workflow_id",
    "status",
    "money",
    "operation",
    "payout_id",
    "card_holder_id",
    "card_id",
    "amount",
    "currency",
    "payee",
    "payee_account",
    "reference",
    "payment_date",
    "started_at",
    "ended_at",
    "completed_at",
    "word",
    "batch",
    "row",
    "reason",
  ]);
  expect(new Set(lines.map((line) => line.split(",")[0])).size).toBe(PAYOUTS);
  expect(lines).toHaveLength(PAYOUTS);
  expect(stdout).not.toMatch(/(?:^|,)=/m);
});

it("prints every run as one JSON object a line, once", async () => {
  const { stdout } = await runCli("list", "--jsonl");
  const ids = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly workflowId: string }).workflowId);
  expect(ids).toHaveLength(PAYOUTS);
  expect(new Set(ids).size).toBe(PAYOUTS);
});

it.each([
  "inbox",
  "list --limit 3",
  "list --group-by day",
  "list --batches",
  "report --since 1d",
  "report --since 1d --by payee",
  "show invoice-1 --log",
  "show nothing --log",
])("prints lines as the published schema says: %s --jsonl", async (line) => {
  const { stdout } = await runCli(...line.split(" "), "--jsonl");
  // Each line is checked by the schema.
  for (const each of stdout.split("\n").filter(Boolean))
    expect(JSON.parse(each)).toBeTypeOf("object");
  expect(await runCli(...line.split(" "), "--jsonl", "--json")).toMatchObject({ code: 2 });
});

it("has one line for a payee, in a report and in a list", async () => {
  for (const command of [
    ["report", "--since", "1d", "--by", "payee"],
    ["list", "--group-by", "payee"],
  ]) {
    const { stdout } = await runCli(...command, "--csv");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stdout).toContain('mark-1,"Muster AG, CH",2606,payouts,planned,503,50.30,EUR');
    const answer = await runCli(...command, "--json");
    expect(JSON.parse(answer.stdout)).toMatchObject({
      lines: [{ state: "planned", amount: "50.30" }],
    });
  }
});

it.each([
  ["2026-10-01", "2026-10-01T00:00:00.000Z"],
  ["2026-10-01T12:00", "2026-10-01T12:00:00.000Z"],
  // As this command prints it.
  ["2026-10-01 12:00:30Z", "2026-10-01T12:00:30.000Z"],
  ["2026-10-01T12:00:30.5+02:00", "2026-10-01T10:00:30.500Z"],
])("reads %s in UTC unless it names a zone, wherever the machine is", async (given, since) => {
  vi.stubEnv("TZ", "Asia/Tokyo");
  const { stdout } = await runCli("report", "--since", given, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ since: Date.parse(since) });
});

it("shows rows of a batch alone: no run is printed in the place of CSV or of rows", async () => {
  for (const format of ["--csv", "--jsonl", "--json"])
    expect(await runCli("show", "invoice-1", "--rows", format)).toMatchObject({ code: 2 });
});

it("names the faults of a file with their rows, as the published schema says", async () => {
  const file = join(folder, "wrong.jsonl");
  writeFileSync(file, '{"key":5}\n');
  const { stdout } = await runCli("onboard", file, "--dry-run", "--by", "ada", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    error: { faults: [{ row: 1, column: "key" }, {}, {}] },
  });
});

it("takes a status as a list shows it", () => {
  expect(statusesIn("came back, needs approval,failed")).toEqual([
    "returned",
    "approval",
    "failed",
    "timedOut",
    "terminated",
  ]);
});

it("refuses a status and an account that do not exist, before anything is read", async () => {
  expect(await runCli("list", "--status", "doubtful")).toMatchObject({ code: 2 });
  expect(await runCli("list", "--account", "nobody")).toMatchObject({ code: 2 });
});

it("chooses the account of the top level of the settings by the name default", async () => {
  const file = join(folder, "accounts.json");
  const baseUrl = "https://api.example.com";
  const accounts = { swiss: { clientId: "client-2", baseUrl, apiKey: "k" } };
  writeFileSync(file, JSON.stringify({ accounts, clientId: "client", baseUrl, apiKey: "k" }));
  vi.stubEnv("PAYMENTS_SETTINGS", file);
  for (const command of [["list"], ["report", "--since", "1d"]]) {
    const { code, stdout } = await runCli(...command, "--account", "default");
    expect(code).toBe(0);
    expect(stdout).toMatch(/No (?:run|payment) found/);
  }
  const unknown = await runCli("list", "--account", "nobody");
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("default, swiss") });
  // An account that is called so has the name.
  const called = {
    clientId: "client",
    baseUrl,
    apiKey: "k",
    accounts: { default: accounts.swiss },
  };
  writeFileSync(file, JSON.stringify(called));
  expect((await runCli("limits", "show")).stdout).toMatch(/^[\da-f]{16}: .*\ndefault: /);
});

it.each([
  "",
  "inbox",
  "list --limit 3",
  "list --group-by day",
  "list --batches",
  "report --since 1d --by payee",
  "show invoice-1",
  "show invoice-1 --log --verify",
  "show nothing",
  "limits show",
  "doctor",
  "pause invoice-1 --reason audit --by ada",
  "resume invoice-1 --by ada",
  "cancel invoice-1 --reason audit --by ada --yes",
  "retry invoice-1 --by ada",
])("answers as the published schema says: durable-payments %s --json", async (line) => {
  const { stdout } = await runCli(...line.split(" ").filter(Boolean), "--json");
  // Checked by the schema, as each answer of each test is.
  expect(JSON.parse(stdout)).toBeTypeOf("object");
});
