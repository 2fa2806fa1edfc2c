import { defaultAssumptions } from "@durable-payments/api-core";
import {
  checkBatchFile,
  planOnboarding,
  planPayout,
  readNamedAccounts,
} from "@durable-payments/operations";
import { authenticateByFile } from "@durable-payments/operations/codec-server";
import { checkout } from "@durable-payments/tools/processes";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redacted } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shownJson } from "../support/blocks.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shown-files-"));
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (name: string, text: string): Promise<string> => {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
};

it("the inputs that docs/inputs.md and docs/accounts.md show are taken", () => {
  const onboarding: unknown = JSON.parse(shownJson("docs/inputs.md", 1));
  expect(planOnboarding(onboarding, defaultAssumptions).workflowType).toBe("onboardCardholder");
  const payout: unknown = JSON.parse(shownJson("docs/inputs.md", 2));
  expect(planPayout(payout, defaultAssumptions).workflowType).toBe("payout");
  const named: unknown = JSON.parse(shownJson("docs/accounts.md", 1));
  expect(planPayout(named, defaultAssumptions)).toMatchObject({ account: "eu" });
});

const textOf = (key: string | Redacted.Redacted): string =>
  Redacted.isRedacted(key) ? Redacted.value(key) : key;

it("the file of accounts that docs/accounts.md shows is read", async () => {
  const file = await written("accounts.json", shownJson("docs/accounts.md", 2));
  for (const name of ["eu", "us"]) await written(`${name}.key`, `key-of-${name}\n`);
  const accounts = readNamedAccounts({ PAYMENTS_ACCOUNTS_FILE: file });
  expect(
    accounts?.map(({ client: { apiKey, clientId }, name }) => ({
      name,
      clientId,
      apiKey: typeof apiKey === "function" ? textOf(apiKey()) : apiKey,
    })),
  ).toEqual([
    { name: "eu", clientId: "client-eu", apiKey: "key-of-eu" },
    { name: "us", clientId: "client-us", apiKey: "key-of-us" },
  ]);
});

it("the file of users that docs/encryption.md shows is read", async () => {
  const file = await written("users.json", shownJson("docs/encryption.md", 1));
  const authenticate = await authenticateByFile(file);
  // What the file has the hash of.
  expect(await authenticate("Bearer test")).toMatchObject({
    name: "batch tooling",
    role: "editor",
  });
});

it("the row that docs/batches.md shows is taken", async () => {
  const file = await written("payouts.jsonl", shownJson("docs/batches.md", 1));
  expect(await checkBatchFile(file, defaultAssumptions)).toMatchObject({ rows: 1 });
});

it("the settings of TypeScript that docs/composing.md shows are known to it", async () => {
  await written("worker.ts", "export {};\n");
  await written("tsconfig.json", shownJson("docs/composing.md", 1));
  const tsc = join(checkout, "node_modules/.bin/tsc");
  const { stdout } = await promisify(execFile)(tsc, ["--showConfig", "-p", folder]);
  expect(stdout).toContain("./worker.ts");
});
