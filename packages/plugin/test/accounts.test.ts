import { readTracked } from "@durable-payments/activities";
import { openLedger } from "@durable-payments/ledger";
import { listedRuns, trackersOn, WORKFLOW, type Workflows } from "@durable-payments/protocol";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { Runtime, Worker } from "@temporalio/worker";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { PaymentsPlugin, type Polling } from "../src/index.ts";
import { endUnserved, trackerOf } from "../src/kept-workflows.ts";
import { paymentsPluginIn } from "../src/payments-plugin.ts";
import type { paySupplier } from "./support/workflows.ts";

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let home: Simulator;
let eu: Simulator;
beforeAll(async () => {
  [temporal, home, eu] = await Promise.all([
    createLocalEnvironment(),
    // Later than the first look: each run waits for its tracker.
    startSimulator({ settleAfter: 3_000 }),
    startSimulator({ settleAfter: 3_000, clientId: "client-eu", apiKey: "key-eu" }),
  ]);
});
afterAll(async () => {
  await temporal.teardown();
  await Promise.all([home.stop(), eu.stop()]);
});

/** Runs a worker with two accounts, and while it polls a piece of work with its client. */
const withWorker = async (work: (client: Client) => Promise<void>) => {
  const ledger = await openLedger("memory");
  const polling = Promise.withResolvers<Polling>();
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false, ledger },
    {
      baseUrl: home.url,
      clientId: home.clientId,
      apiKey: home.apiKey,
      hints: { address: "127.0.0.1:0", secret: `whsec_${Buffer.alloc(32).toString("base64")}` },
      accounts: { eu: { baseUrl: eu.url, clientId: eu.clientId, apiKey: eu.apiKey } },
      onReady: polling.resolve,
    },
  );
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "payments",
    workflowsPath: fileOf("support/workflows.ts"),
    plugins: [plugin],
  });
  const client = new Client({ connection: temporal.connection, plugins: [new PaymentsPlugin()] });
  await worker.runUntil(async () => {
    await polling.promise;
    await work(client);
  });
  return ledger;
};

const payoutsOf = async (simulator: Simulator) => (await simulator.state()).payouts.length;

it("a worker pays for each of its accounts with its credentials, and notices soon that it is done", async () => {
  const info = vi.spyOn(Runtime.instance().logger, "info");
  onTestFinished(() => info.mockRestore());
  const ledger = await withWorker(async (client) => {
    expect(info.mock.calls.map(([text]) => text).join("\n")).toMatch(
      /Hints of the service are received at 127\.0\.0\.1:\d+, for these accounts: the one without a name, eu\./,
    );
    const pay = async (workflowId: string, account: string | null) => {
      const began = Date.now();
      const run = { workflowId, taskQueue: "payments", args: [account] } as const;
      await client.workflow.execute<typeof paySupplier>("paySupplier", run);
      return Date.now() - began;
    };
    const took = await Promise.all([pay("one", null), pay("two", "eu"), pay("three", "eu")]);
    // The service completes a payout after 3 s, and its account's tracker notices within 10 s. Without it, a wait takes minutes.
    expect(Math.max(...took)).toBeLessThan(45_000);
    expect([await payoutsOf(home), await payoutsOf(eu)]).toEqual([1, 2]);
    for await (const { execution } of listedRuns(client, trackersOn("payments")))
      expect(await readTracked(client, execution?.workflowId ?? "")).toMatchObject({
        hints: "127.0.0.1:0",
      });
  });
  const rows = await Promise.all(["one", "two", "three"].map((id) => ledger.rowsOf(id)));
  const accounts = rows.map(([row]) => row?.account);
  expect(new Set(accounts).size).toBe(2);
  expect(accounts[1]).toBe(accounts[2]);
  await ledger.close();
});

it("a worker drains and ends with the error of onReady", async () => {
  const ledger = await openLedger("memory");
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false, ledger },
    {
      baseUrl: home.url,
      clientId: home.clientId,
      apiKey: home.apiKey,
      onReady: () => {
        throw new Error("no such folder");
      },
    },
  );
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: "not-ready",
    workflowsPath: fileOf("support/workflows.ts"),
    plugins: [plugin],
  });
  await expect(worker.run()).rejects.toThrow("no such folder");
  expect(worker.getState()).toBe("STOPPED");
  await ledger.close();
});

it("a tracker whose account no worker has ends; one that is served, or was lately, stays", async () => {
  const client = new Client({ connection: temporal.connection });
  const startTracker = (account: string, name: string) => {
    const options = trackerOf({ hash: account, name }, "left");
    return client.workflow.start<Workflows["tracker"]>(WORKFLOW.tracker, options);
  };
  const [left, own] = [await startTracker("hash-1", "left"), await startTracker("hash-2", "own")];
  const listed = async () => (await client.workflow.count(trackersOn("left"))).count;
  await expect.poll(listed, { timeout: 10_000 }).toBe(2);
  const statusOf = async (handle: typeof left) => (await handle.describe()).status.name;
  const look = (since: number) => endUnserved(client, "left", [own.workflowId], since);
  const before = Date.now();
  await look(before);
  expect(await statusOf(left)).toBe("RUNNING");
  // Longer than a rolling restart, but not since this worker has started.
  vi.useFakeTimers({ toFake: ["Date"], now: before + 11 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  await look(Date.now());
  expect(await statusOf(left)).toBe("RUNNING");
  await look(before);
  expect([await statusOf(left), await statusOf(own)]).toEqual(["TERMINATED", "RUNNING"]);
});

it.each([
  [
    "the client of another",
    { clientId: "c", apiKey: "other" },
    /has the same client id as the account/,
  ],
  [
    "the API key of another",
    { clientId: "other", apiKey: "k" },
    /has the same API key as the account/,
  ],
  [
    "no API key",
    { clientId: "other" },
    /The account eu has no apiKey: each account needs its own credentials/,
  ],
])("an account with %s is refused before any work is taken", async (_, eu, message) => {
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false },
    { baseUrl: "http://127.0.0.1:1", clientId: "c", apiKey: "k", accounts: { eu } },
  );
  await expect(plugin.configureWorker({ taskQueue: "payments" })).rejects.toThrow(message);
});

it.each([
  ["lack those of payments", "support/own-workflows.ts"],
  ["have no names", "support/no-names.cjs"],
])("a worker whose workflows %s is refused, and told what to export", async (_, file) => {
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false },
    { baseUrl: "http://127.0.0.1:1", clientId: "c", apiKey: "k", ledger: "memory" },
  );
  const options = { taskQueue: "payments", workflowsPath: fileOf(file) };
  await expect(plugin.configureWorker(options)).rejects.toThrow(
    /lack checkWorker, notifier, .*export \{ checkWorker, /,
  );
  await expect(
    plugin.configureWorker({ taskQueue: "payments", activities: { createPayout: () => {} } }),
  ).rejects.toThrow(/already provides the activities createPayout/);
});

it("a worker that is only checked leaves no ledger open", async () => {
  const folder = mkdtempSync(join(tmpdir(), "plugin-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const plugin = paymentsPluginIn(
    { environment: {}, skipsTime: false },
    { baseUrl: "http://127.0.0.1:1", clientId: "c", apiKey: "k", ledger: `sqlite:${folder}/l.db` },
  );
  await plugin.configureWorker({ taskQueue: "payments", workflowBundle: { code: "" } });
  // SQLite removes its other files when the last connection is closed.
  expect(readdirSync(folder)).toEqual(["l.db"]);
});
