import { createClient } from "@durable-payments/client";
import { openLedger, readLedgerPlace } from "@durable-payments/ledger";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "./support/run-cli.ts";

beforeEach(() => {
  for (const name of Object.keys(process.env)) {
    if (/^(?:TEMPORAL|PAYMENTS)_/.test(name)) vi.stubEnv(name, undefined);
  }
  return () => vi.unstubAllEnvs();
});

it("reports a proof, a duplicate without personal data, and a service that is away, each by its exit code", async () => {
  const folder = makeTestFolder();
  onTestFinished(folder.remove);
  const place = `sqlite:${join(folder.path, "ledger.sqlite")}`;
  await (await openLedger(readLedgerPlace(place, ""))).close();
  const { startSimulator } = await import("@durable-payments/simulator");
  const { addFault, apiKey, clientId, stop, url: baseUrl } = await startSimulator();
  const client = createClient({ apiKey, clientId, baseUrl });
  onTestFinished(() => client.close());
  vi.stubEnv("PAYMENTS_LEDGER", place);
  vi.stubEnv("PAYMENTS_BASE_URL", baseUrl);
  vi.stubEnv("PAYMENTS_CLIENT_ID", clientId);
  vi.stubEnv("PAYMENTS_API_KEY", apiKey);

  const { card_holder_id: one } = await client.createCardholder(inputs.cardholder);
  expect(await runCli("duplicates")).toEqual({
    code: 0,
    stdout: `default: 0 cardholders and 0 cards in the ledger, 1 cardholder at the service
No cardholder and no card exists twice.
`,
    stderr: "",
  });

  const { card_holder_id: two } = await client.createCardholder(inputs.cardholder);
  const found = await runCli("duplicates");
  expect(found).toMatchObject({ code: 1, stderr: "" });
  expect(found.stdout).toContain("1 duplicate\n");
  expect(found.stdout).toContain(one);
  expect(found.stdout).toContain(two);
  expect(found.stdout).not.toContain(inputs.cardholder.last_name);
  expect(await runCli("duplicates", "--json")).toMatchObject({ code: 1 });
  expect(await runCli("duplicates", "--batch", "payouts/none")).toMatchObject({ code: 5 });
  expect(await runCli("duplicates", "--account", "nobody")).toMatchObject({ code: 2 });

  // A service that is slow, or hangs, is named while it is waited for.
  await addFault({ kind: "slow", operation: "listCardholders", milliseconds: 3_000 });
  const slow = await runCli("duplicates");
  expect(slow).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Waiting for .* list/) });

  await stop();
  const away = await runCli("duplicates");
  expect(away.code).toBe(3);
  expect(away.stdout).toContain("not proved: the list of cardholders proves nothing:");
  expect(away.stdout).toContain(
    "No duplicate was found, but it is not proved that there are none.",
  );
});
