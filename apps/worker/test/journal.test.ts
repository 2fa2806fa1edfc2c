import { DatabaseSync } from "node:sqlite";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { serviceQueue } from "@durable-payments/activities/task-queues";
import { createLocalEnvironment, startApp } from "@durable-payments/tools/testing";
import { Worker } from "@temporalio/worker";
import type { Progress } from "@durable-payments/workflows";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { makeFolder, type TestFolder } from "./support/folder.ts";
import { payoutInput } from "./support/inputs.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

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

it("while the journal cannot be written nothing is sent; then it is, once", async () => {
  const file = `${folder.path}/busy.sqlite`;
  const worker = await startWorker(`sqlite:${file}`);
  const another = new DatabaseSync(file);
  another.exec("BEGIN IMMEDIATE");
  const handle = await environment.client.workflow.start("payout", {
    workflowId: "waits-for-the-journal",
    taskQueue: "payments",
    args: [payoutInput],
  });
  const why = async () => (await handle.query<Progress>("progress")).steps.at(-1)?.note ?? "";
  await vi.waitFor(async () => expect(await why()).toContain("cannot be written"), {
    timeout: 40_000,
    interval: 500,
  });
  expect((await simulator.state()).requests).not.toHaveProperty("createBeneficiary");
  another.exec("ROLLBACK");
  another.close();
  await vi.waitFor(async () => expect((await simulator.state()).payouts).toHaveLength(1), {
    timeout: 60_000,
  });
  expect((await simulator.state()).beneficiaries).toHaveLength(1);
  await handle.terminate();
  expect(worker.stderr()).toMatch(/cannot be written \(database is locked\)/);
  await worker.kill();
});
