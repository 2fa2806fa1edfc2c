import { bundleWorkflowCode, Worker } from "@temporalio/worker";
import { startSimulator, startTestServer } from "durable-payments/testing";
import { PaymentsPlugin } from "durable-payments/worker";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const workflowsPath = new URL("./examples/workflows.ts", import.meta.url).pathname;

it("a worker ends with an error once the file of its ledger is removed: it would take payments from other workers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moved-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [server, simulator] = await Promise.all([startTestServer("dev"), startSimulator()]);
  onTestFinished(async () => {
    await Promise.all([server.dispose(), simulator.stop()]);
  });
  const { apiKey, clientId, url: baseUrl } = simulator;
  const ledger = `sqlite:${join(folder, "ledger.db")}`;
  const onReady = () => rmSync(folder, { recursive: true });
  const plugin = new PaymentsPlugin({ ledger, apiKey, clientId, baseUrl, onReady });
  const worker = await Worker.create({
    connection: server.environment.nativeConnection,
    taskQueue: "moved",
    workflowBundle: await bundleWorkflowCode({ workflowsPath, plugins: [plugin] }),
    plugins: [plugin],
  });
  await expect(worker.run()).rejects.toThrow(/was moved, removed or replaced: stop the workers/);
}, 60_000);
