import { bundleWorkflowCode, Runtime, Worker, type WorkflowBundle } from "@temporalio/worker";
import { encryptedDataConverter, openKeyring } from "durable-payments/codec";
import { openPayments } from "durable-payments/start";
import {
  type Simulator,
  startSimulator,
  startTestServer,
  type TestServer,
  usePaymentsTest,
} from "durable-payments/testing";
import { PaymentsPlugin } from "durable-payments/worker";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { paySupplier } from "./examples/workflows.ts";

const workflowsPath = new URL("./examples/workflows.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "encrypted-"));
const keyringOf = (name: string): string => {
  const path = mkdtempSync(join(folder, name));
  writeFileSync(join(path, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
  writeFileSync(join(path, "current"), "k1");
  return path;
};
const keyring = keyringOf("ours");
const ofOwn = encryptedDataConverter({ namespace: "default", keys: openKeyring(keyringOf("own")) });

let server: TestServer;
let simulator: Simulator;
let workflowBundle: WorkflowBundle;
beforeAll(async () => {
  [server, simulator, workflowBundle] = await Promise.all([
    startTestServer("dev"),
    startSimulator({ settleAfter: 0 }),
    bundleWorkflowCode({ workflowsPath, plugins: [new PaymentsPlugin({ keyring })] }),
  ]);
});
afterAll(async () => {
  await Promise.all([server.dispose(), simulator.stop()]);
  rmSync(folder, { recursive: true });
});

/** Pays by a worker and reads the run by a program of its own; returns what the ledger's files hold. */
const paidBy = async (
  id: string,
  given: { readonly keyring?: string; readonly dataConverter?: typeof ofOwn },
) => {
  const place = mkdtempSync(join(folder, "ledger-"));
  const { address, nativeConnection } = server.environment;
  const { apiKey, clientId, url: baseUrl } = simulator;
  const ledger = `sqlite:${join(place, "ledger.db")}`;
  const { dataConverter, keyring: keys } = given;
  const plugin = new PaymentsPlugin({
    ledger,
    apiKey,
    clientId,
    baseUrl,
    ...(keys !== undefined && { keyring: keys }),
  });
  const converter = dataConverter && { dataConverter };
  const worker = await Worker.create({
    connection: nativeConnection,
    taskQueue: id,
    workflowBundle,
    plugins: [plugin],
    ...converter,
  });
  await worker.runUntil(async () => {
    await using payments = await openPayments({
      clientId,
      baseUrl,
      ledger,
      taskQueue: id,
      ...(keys !== undefined && { keyring: keys }),
      temporal: { address, ...converter },
    });
    const { workflowId } = await payments.start<typeof paySupplier>("paySupplier", {
      key: id,
      by: "Ada Lovelace",
      args: ["12.50"],
    });
    let last;
    for await (const run of payments.follow(workflowId)) last = run;
    expect(last).toMatchObject({ status: "succeeded", startedBy: "Ada Lovelace" });
    expect(await payments.list()).toMatchObject({ runs: [{ workflowId }] });
  });
  return readdirSync(place)
    .map((file) => readFileSync(join(place, file), "latin1"))
    .join("");
};

describe("a keyring", () => {
  it("encrypts the ledger, which a program reads with the same keyring", async () => {
    expect(await paidBy("sealed", { keyring })).not.toContain("Ada Lovelace");
  });

  it("encrypts the ledger although a dataConverter encrypts what Temporal stores", async () => {
    expect(await paidBy("both", { keyring, dataConverter: ofOwn })).not.toContain("Ada Lovelace");
  });
});

describe("a dataConverter alone", () => {
  it("leaves the ledger as it is, which the worker says when it starts", async () => {
    const warn = vi.spyOn(Runtime.instance().logger, "warn");
    onTestFinished(() => warn.mockRestore());
    const texts = await paidBy("plain", { dataConverter: ofOwn });
    expect(texts).toContain("Ada Lovelace");
    expect(JSON.stringify(warn.mock.calls)).toContain("The ledger's texts are not encrypted");
  });
});

describe("tests with a dataConverter", async () => {
  const payments = await usePaymentsTest({
    workflowsPath: new URL("./examples/workflows.ts", import.meta.url).href,
    dataConverter: ofOwn,
  });

  it("replay runs whose payloads are encrypted", async () => {
    await payments.run(paySupplier, ["12.50"]);
    expect(await payments.replay()).toHaveLength(1);
  });
});
