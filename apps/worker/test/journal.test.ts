import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { serviceQueue } from "@durable-payments/activities/task-queues";
import { createLocalEnvironment, startApp } from "@durable-payments/tools/testing";
import { Worker } from "@temporalio/worker";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { makeFolder, type TestFolder } from "./support/folder.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

let folder: TestFolder;
let environment: Awaited<ReturnType<typeof createLocalEnvironment>>;
let simulator: Simulator;
beforeAll(async () => {
  folder = makeFolder();
  [environment, simulator] = await Promise.all([createLocalEnvironment(), startSimulator()]);
});
afterAll(async () => {
  await environment?.teardown();
  await simulator?.stop();
  folder.remove();
});

const startWorker = (journal: string) =>
  startApp("worker", ["--json"], {
    ...folder.variables,
    TEMPORAL_ADDRESS: environment.address,
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: simulator.url,
    PAYMENTS_CLIENT_ID: simulator.clientId,
    PAYMENTS_API_KEY: simulator.apiKey,
    PAYMENTS_JOURNAL: journal,
  });

it("warns where another host polls, which does not have its file", async () => {
  const another = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: serviceQueue("payments"),
    identity: "77@another-host",
    activities: { other: async () => undefined },
  });
  await another.runUntil(async () => {
    const worker = await startWorker(`sqlite:${folder.path}/journal.sqlite`);
    const words =
      /Workers of other hosts poll, too \(another-host\), and the journal of sends is a file/;
    await vi.waitFor(() => expect(worker.stderr()).toMatch(words), { timeout: 20_000 });
    await worker.kill();
  });
});
