import { encryptedDataConverter, openKeyring } from "@durable-payments/codec";
import { makeTestFolder } from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createPaymentsTest, startTestServer } from "../src/index.ts";
import { paySupplier } from "./support/workflows.ts";

it("variables of the tests' own process say nothing of how a test encrypts", async () => {
  vi.stubEnv("PAYMENTS_KEYRING", "/nowhere");
  try {
    await using payments = await createPaymentsTest({
      workflowsPath: import.meta.resolve("./support/workflows.ts"),
    });
    await payments.run(paySupplier, ["12.50"]);
    expect((await payments.ledger()).payouts).toHaveLength(1);
  } finally {
    vi.unstubAllEnvs();
  }
});

it("a test that encrypts as its workers do shows failures and replays, and its server stores none of it", async () => {
  const folder = makeTestFolder();
  onTestFinished(folder.remove);
  writeFileSync(join(folder.path, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
  writeFileSync(join(folder.path, "current"), "k1");
  const server = await startTestServer();
  onTestFinished(server.dispose);
  await using payments = await createPaymentsTest({
    workflowsPath: import.meta.resolve("./support/workflows.ts"),
    dataConverter: encryptedDataConverter({
      namespace: "default",
      keys: openKeyring(folder.path),
    }),
    server,
  });

  await payments.fault("refusal-in-200", { operation: "createPayout" });
  const run = await payments.start(paySupplier, ["12.50"], { workflowId: "invoice-1" });
  await expect(run.result()).rejects.toHaveProperty(
    "cause.message",
    "createPayout was refused: Refused on demand",
  );
  await payments.run(paySupplier, ["12.50"]);
  expect((await payments.ledger()).payouts).toHaveLength(1);
  expect(await payments.replay()).toHaveLength(2);

  const plain = new Client({ connection: server.environment.connection });
  const history = await plain.workflow.getHandle("invoice-1").fetchHistory();
  const stored = JSON.stringify(history, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  );
  expect(stored).toContain("Encoded failure");
  expect(stored).not.toContain("Refused on demand");
  expect(stored).not.toContain("12.50");
});
