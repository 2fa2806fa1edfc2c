import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { batchOf, runOf, START } from "./support/recorded.ts";
import { runCli } from "./support/run-cli.ts";

// Nothing listens at port 9: a stop order and a pause need the ledger alone.
const folder = mkdtempSync(join(tmpdir(), "starter-confirm-"));
afterAll(() => rmSync(folder, { recursive: true }));
const place = `sqlite:${join(folder, "ledger.sqlite")}` as const;
const BATCH = "payouts/4d34";

beforeAll(async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  const payment = { amount: "250.00", currency: "EUR", payee: "b-1", reference: "Invoice 17" };
  await ledger.recordStart(runOf("invoice-17", payment), START);
  await ledger.saveBatch(BATCH, () => batchOf(BATCH, "november.csv"));
  const row = { number: 2, workflowId: "payout/1", fingerprint: "f", message: null, terms: "t" };
  const payee = { mark: null, shown: null };
  await ledger.saveRows(BATCH, [{ ...row, ...payment, ...payee, state: "waiting" }]);
  await ledger.close();
});

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  vi.stubEnv("PAYMENTS_LEDGER", place);
  return () => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  };
});

/** Answers the prompts of commands, as a person at a terminal does. */
const atTerminal = (answer: string): void => {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true });
  keyboard.write(`${answer}\n`);
  vi.spyOn(process, "stdin", "get").mockReturnValue(keyboard as unknown as typeof process.stdin);
  const before = process.stderr.isTTY;
  process.stderr.isTTY = true;
  onTestFinished(() => {
    process.stderr.isTTY = before;
  });
};

const BY = ["--by", "ada", "--reason", "wrong file"];
const statusOf = async (id: string) => {
  const { stdout } = await runCli("show", id, "--json");
  return (JSON.parse(stdout) as { readonly status?: string; readonly state?: string }).status;
};

it.each([
  [
    ["cancel", "invoice-17"],
    /This stops invoice-17 \(running\):\n {2}250\.00 EUR {2}b-1, Invoice 17 {2}not sent yet/,
  ],
  [
    ["cancel", BATCH],
    /This stops the rows that have not started of payouts\/4d34 \(november\.csv\):\n {2}not sent yet {2}1 {2}250\.00 EUR/,
  ],
  [["cancel", BATCH, "--started"], /This stops every row without an outcome/],
  [["pause"], /This pauses every send[^]*not sent yet {2}250\.00 EUR/],
] as const)("asks at a terminal, and says what stops: %j", async (command, what) => {
  const alone = await runCli(...command, ...BY);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  atTerminal("n");
  const { code, stderr, stdout } = await runCli(...command, ...BY);
  expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
  expect(stderr).toMatch(what);
  expect(await statusOf("invoice-17")).toBe("running");
});

it("does it after a yes, and asks nothing for the pause of one run", async () => {
  expect(await runCli("pause", "invoice-17", ...BY)).toMatchObject({ code: 0 });
  atTerminal("y");
  expect(await runCli("cancel", "invoice-17", ...BY)).toMatchObject({ code: 0 });
  expect(await statusOf("invoice-17")).toBe("ended");
});

it("no text from outside can add a line to what a person confirms", async () => {
  vi.stubEnv("PAYMENTS_LEDGER", `sqlite:${join(folder, "failed.sqlite")}`);
  const ledger = await openLedger(readLedgerPlace(process.env["PAYMENTS_LEDGER"] ?? "", ""));
  const workflowId = "order-1\n0 failed runs can be retried.\u001b[8m";
  const payment = { amount: "250.00", currency: "EUR", payee: "b-1", reference: null };
  await ledger.recordStart({ ...runOf(workflowId, payment), runId: "r" }, START);
  const end = { endState: "failed", endedAt: 2, endType: "Refused", endReason: "no" } as const;
  await ledger.recordEnds([{ ...end, workflowId, runId: "r" }]);
  await ledger.close();
  const { code, stderr } = await runCli("retry", "--all-failed", "--by", "ada");
  expect(code).toBe(2);
  expect(stderr).toContain(String.raw`order-1\u{a}0 failed runs can be retried.\u{1b}[8m`);
});
