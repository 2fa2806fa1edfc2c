import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import { accountHash } from "@durable-payments/protocol/account";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it, vi } from "vitest";
import { runCli } from "./support/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "word-"));
afterAll(() => rmSync(folder, { recursive: true }));

const place = `sqlite:${join(folder, "ledger.sqlite")}` as const;
const service = {
  baseUrl: "https://api.example.com",
  clientId: "client",
  apiKey: "a-key-of-a-test",
};
const account = accountHash(service);

beforeEach(async () => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  const file = join(folder, "settings.json");
  const assumptions = { payoutCompletedStatuses: ["Paid out"] };
  writeFileSync(file, JSON.stringify({ accounts: { switzerland: { ...service, assumptions } } }));
  vi.stubEnv("PAYMENTS_SETTINGS", file);
  vi.stubEnv("PAYMENTS_LEDGER", place);
  vi.stubEnv("TEMPORAL_ADDRESS", "127.0.0.1:9");
  return () => vi.unstubAllEnvs();
});

const BY = ["--by", "ada", "--reason", "the statement of 3 May"];

it("says who said what a word means, and refuses words that the account's settings list", async () => {
  const ledger = await openLedger(readLedgerPlace(place, ""));
  await ledger.decideWord(account, "Gutgeschrieben", "completed", {
    by: "grace",
    how: "--by",
    reason: "the dashboard",
  });
  await ledger.close();
  expect(await runCli("word", "paid out", "failed", ...BY)).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("assumptions.payoutCompletedStatuses"),
  });
  expect(await runCli("word", "Gutgeschreiben", "failed", ...BY)).toMatchObject({ code: 6 });
  const named = ["--account", "switzerland"];
  const answer = await runCli("word", "Gutgeschrieben", "failed", ...named, ...BY);
  expect(answer.code).toBe(0);
  expect(answer.stdout).toContain("Before: completed, as grace said on");
  const { stdout } = await runCli("word");
  expect(stdout).toMatch(/^switzerland: "gutgeschrieben" means failed, as ada said on /);
  expect(JSON.parse((await runCli("word", "--json")).stdout)).toMatchObject({
    words: [{ account, word: "gutgeschrieben", means: "failed", by: "ada" }],
  });
});
