import { forAccounts, makePaymentsActivities } from "@durable-payments/activities";
import {
  clientOptionsFromEnvironment,
  defaultAssumptions,
  PaymentsClient,
} from "@durable-payments/api-core";
import { openTracing } from "@durable-payments/api-core/tracing";
import {
  decodeMessage,
  encryptedDataConverter,
  openKeyring,
  readDataConverter,
} from "@durable-payments/codec";
import { openJournal, readJournalPlace } from "@durable-payments/journal";
import {
  auditRun,
  awaitBatch,
  cancelRun,
  checkBatchFile,
  connectTemporal,
  decide,
  diagnose,
  fixNamespace,
  importBatch,
  isEachPaid,
  listBatches,
  listRuns,
  onTemporal,
  pauseSends,
  planOnboarding,
  planFix,
  planPayout,
  planRetryOf,
  readApproval,
  readHumanTask,
  readTimeline,
  reportBatch,
  reportRun,
  resolveRun,
  resumeSends,
  retryRun,
  settle,
  startRun,
  type Temporal,
  temporalSettings,
  terminateRun,
  testNotification,
  withTemporal,
} from "@durable-payments/operations";
import { decodingConnection, traceStarts } from "@durable-payments/operations/connection";
import { PaymentsPlugin } from "@durable-payments/plugin";
import { approveUpdate } from "@durable-payments/protocol";
import { clientHash } from "@durable-payments/protocol/account";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { spawnProcess, type StartedProcess } from "@durable-payments/tools/processes";
import { beneficiary, card, cardholder, payout } from "@durable-payments/tools/test-data/inputs";
import { createLocalEnvironment, workerVariables } from "@durable-payments/tools/testing";
import { Client } from "@temporalio/client";
import { type NativeConnection, Worker } from "@temporalio/worker";
import { Effect, ManagedRuntime } from "effect";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { shownJson } from "../support/blocks.ts";
import { payInChild } from "./workflows.ts";

const WAITING = { timeout: 120_000, interval: 100 };
const SECRET = `whsec_${Buffer.from("a secret of thirty-two characters").toString("base64")}`;

const checkout = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "doc-examples-"));
const journal = { clientId: "simulator", journal: `sqlite:${join(folder, "journal.sqlite")}` };
const ends: Array<() => unknown> = [];

let simulator: Simulator;
let temporal: Temporal;
let connection: NativeConnection;
let endpoint: StartedProcess;
let beneficiary_id: string;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0);
  await once(server, "listening");
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

/** The worker of the plugin's docstring. */
const runWorker = async () => {
  // #region example
  const worker = await Worker.create({
    connection,
    taskQueue: "payments",
    workflowsPath: fileURLToPath(import.meta.resolve("./workflows.ts")),
    plugins: [new PaymentsPlugin({ maxAmounts: { EUR: "10000.00", USD: "1000.00" } })],
  });
  await worker.run();
  // #endregion
};

const start = async (workflowId: string, options: object = {}) => {
  const planned = planPayout({ beneficiary_id, payout, options }, defaultAssumptions);
  await startRun(temporal, workflowId, planned, { startedBy: "Ada", journal });
};

const expectState = (workflowId: string, state: string) =>
  vi.waitFor(
    async () => expect((await reportRun(temporal, workflowId)).state).toBe(state),
    WAITING,
  );

/** Imports a program of the docs, and returns what it prints. */
const printedBy = async (program: URL): Promise<string> => {
  const log = vi.spyOn(console, "log").mockReturnValue();
  await import(program.href);
  const printed = log.mock.calls.map((words) =>
    words.map((word) => JSON.stringify(word)).join(" "),
  );
  log.mockRestore();
  return printed.join("\n");
};

beforeAll(async () => {
  const [environment, started, port] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: 0 }),
    freePort(),
  ]);
  simulator = started;
  connection = environment.nativeConnection;
  writeFileSync(join(folder, "temporal.toml"), "[profile.default]\n");
  const variables = {
    ...workerVariables(environment, simulator),
    // Keeps the profiles of whoever runs the tests out.
    TEMPORAL_CONFIG_FILE: join(folder, "temporal.toml"),
    PAYMENTS_JOURNAL: journal.journal,
    PAYMENTS_ASSUMPTIONS: '{"listLagSeconds":0,"visibilityLagSeconds":1}',
    PAYMENTS_NOTIFY_URL: `http://127.0.0.1:${port}/`,
    PAYMENTS_NOTIFY_SECRET: SECRET,
    PAYMENTS_NOTIFY_INTERVAL_SECONDS: "1",
    TEMPORAL_UI_URL: "https://temporal.example",
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  endpoint = spawnProcess(
    process.execPath,
    [fileURLToPath(new URL("./receive-notifications.ts", import.meta.url))],
    { env: { PORT: String(port), PAYMENTS_NOTIFY_SECRET: SECRET } },
  );
  temporal = await connectTemporal(temporalSettings(process.env));
  const created = vi.spyOn(Worker, "create");
  const running = runWorker();
  const worker = await vi.waitFor(() => created.mock.results[0]!.value as Promise<Worker>, WAITING);
  created.mockRestore();
  ends.push(
    async () => {
      worker.shutdown();
      await running;
    },
    () => endpoint.kill("SIGKILL"),
    () => temporal.connection.close(),
    () => environment.teardown(),
    () => simulator.stop(),
    () => rmSync(folder, { recursive: true }),
    () => vi.unstubAllEnvs(),
  );
  const made = await ManagedRuntime.make(PaymentsClient.layerFromEnvironment).runPromise(
    Effect.flatMap(PaymentsClient, (client) => client.createBeneficiary(beneficiary)),
  );
  ({ beneficiary_id } = made);
});

afterAll(async () => {
  for (const end of ends) await end();
});

it("starts a run, and reads of it", async () => {
  {
    // #region example
    const payout = {
      amount: "250.00",
      currency: "EUR",
      payout_reason: "Payment for goods",
      payout_reference: "Invoice 17",
      payment_date: "2026-12-01",
      is_payer: "Y",
    };
    const planned = planPayout({ beneficiary_id, payout }, defaultAssumptions);
    // #endregion
    expect(planned.workflowType).toBe("payout");
  }
  const input = { beneficiary_id, payout };
  // #region example
  const planned = planPayout(input, defaultAssumptions);
  const run = await startRun(temporal, "invoice-2026-001", planned, { startedBy: "Ada", journal });
  // #endregion
  expect(run).toHaveProperty("runId");
  await expectState("invoice-2026-001", "completed");
  // #region example
  const { state, stage, attention } = await reportRun(temporal, "invoice-2026-001");
  // #endregion
  expect([state, stage, attention]).toEqual(["completed", "awaitPayout", null]);
  // #region example
  const { entries } = await auditRun(temporal, "invoice-2026-001");
  // #endregion
  expect(entries[0]).toMatchObject({ who: "Ada" });
  // #region example
  const { steps, next } = await readTimeline(temporal, "invoice-2026-001");
  // #endregion
  expect([steps.length, next]).toEqual([expect.any(Number), expect.anything()]);
  {
    // #region example
    const temporal = await connectTemporal(temporalSettings(process.env));
    const report = await onTemporal(temporal, (kept) => reportRun(kept, "invoice-2026-001"));
    // #endregion
    await temporal.connection.close();
    expect(report.state).toBe("completed");
  }
  // #region example
  const report = await withTemporal(temporalSettings(process.env), (temporal) =>
    reportRun(temporal, "invoice-2026-001"),
  );
  // #endregion
  expect(report.state).toBe("completed");
  expect(await printedBy(new URL("./read-report.ts", import.meta.url))).toBe(
    '"completed" "awaitPayout"',
  );
  expect(await printedBy(new URL("./keep-connection.ts", import.meta.url))).toBe('"completed"');
  expect(await printedBy(new URL("./ask-progress.ts", import.meta.url))).toContain("createPayout");
});

it("runs a child", async () => {
  const amount = "3.00";
  const handle = await temporal.client.workflow.start(payInChild, {
    workflowId: "parent",
    taskQueue: "payments",
    args: [{ beneficiary_id, payout: { ...payout, amount } }],
  });
  const payout_id = await handle.result();
  const { payouts } = await simulator.state();
  expect(payouts.find((made) => made.amount === amount)).toMatchObject({ payout_id });
});

it("decides", async () => {
  await start("invoice-2026-002", { approval: { above: "100.00" } });
  await vi.waitFor(() => readApproval(temporal, "invoice-2026-002"), WAITING);
  // #region example
  const { request, runId } = await readApproval(temporal, "invoice-2026-002");
  const { hash } = request;
  await decide(
    temporal,
    "invoice-2026-002",
    approveUpdate,
    { by: "Bob", hash, approve: true },
    runId,
  );
  // #endregion
  await expectState("invoice-2026-002", "completed");
});

it("resolves", async () => {
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await start("invoice-2026-003", { onRefusal: "ask" });
  await vi.waitFor(() => readHumanTask(temporal, "invoice-2026-003"), WAITING);
  // #region example
  const { runId, task } = await readHumanTask(temporal, "invoice-2026-003");
  await resolveRun(temporal, "invoice-2026-003", {
    question: task.question,
    expectedRunId: runId,
    by: "Ada",
    decision: { resend: true },
    assumptions: defaultAssumptions,
  });
  // #endregion
  await expectState("invoice-2026-003", "completed");
});

it("settles, and cancels", async () => {
  const before = (await simulator.state()).payouts.length;
  await simulator.addFault({ kind: "slow", operation: "createPayout", milliseconds: 60_000 });
  await start("invoice-2026-004");
  const payout_id = await vi.waitFor(async () => {
    const { payouts } = await simulator.state();
    expect(payouts).toHaveLength(before + 1);
    return payouts.at(-1)?.payout_id ?? "";
  }, WAITING);
  await terminateRun(temporal, "invoice-2026-004", { by: "Ada", reason: "stuck" });
  const service = await Effect.runPromise(Effect.result(clientOptionsFromEnvironment));
  // #region example
  const found = { payout_id };
  const seen = {
    by: "Ada",
    reason: "it is in the portal",
    step: undefined,
    found,
    services: [service],
  };
  await settle(temporal, "invoice-2026-004", seen);
  // #endregion
  await start("invoice-2026-005", { approval: { above: "100.00" } });
  await vi.waitFor(() => readApproval(temporal, "invoice-2026-005"), WAITING);
  // #region example
  const { undoes } = await cancelRun(temporal, "invoice-2026-005", {
    by: "Ada",
    reason: "paid by hand",
  });
  // #endregion
  expect(undoes).toBe(false);
  await expectState("invoice-2026-005", "cancelled");
});

it("retries", async () => {
  for (const id of ["invoice-2026-006", "invoice-2026-007", "invoice-2026-008"]) {
    await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await start(id);
    await expectState(id, "failed");
  }
  const options = {
    by: "Bob",
    reason: "the service was down",
    from: undefined,
    patch: undefined,
    assumptions: defaultAssumptions,
    decisions: "keep",
  } as const;
  {
    // #region example
    const { plan, run } = await planRetryOf(temporal, "invoice-2026-006", options);
    console.log(plan.from, plan.again);
    await retryRun(temporal, "invoice-2026-006", { ...options, expectedRunId: run.runId });
    // #endregion
  }
  // #region example
  await retryRun(temporal, "invoice-2026-007", {
    by: "Bob",
    reason: "wrong amount",
    from: undefined,
    patch: { payout: { amount: "20.00" } },
    assumptions: defaultAssumptions,
    decisions: "keep",
  });
  // #endregion
  const id = "invoice-2026-008";
  // #region example
  const { plan, run } = await planRetryOf(temporal, id, options);
  // … a person reads the plan, and confirms it …
  await retryRun(temporal, id, { ...options, expectedRunId: run.runId });
  // #endregion
  expect(plan.from).toBe("createPayout");
  for (const again of ["invoice-2026-006", "invoice-2026-007", id]) {
    await expectState(again, "completed");
  }
  const amounts = (await simulator.state()).payouts.map(({ amount }) => amount);
  expect(amounts.filter((amount) => amount === "20.00")).toHaveLength(1);
  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await start("invoice-2026-009");
  await expectState("invoice-2026-009", "failed");
  const print = vi.spyOn(console, "log").mockReturnValue();
  await vi.waitFor(async () => {
    // #region example
    for await (const run of listRuns(temporal, {
      standing: ["failed"],
      since: new Date("2026-11-01"),
    })) {
      console.log(run.workflowId, run.failure?.message);
    }
    // #endregion
    expect(print).toHaveBeenCalledWith("invoice-2026-009", expect.stringContaining("refused"));
  }, WAITING);
  print.mockRestore();
});

it("takes the amendments of the documents", async () => {
  const parsed = (json: string) => JSON.parse(json) as Readonly<Record<string, unknown>>;
  const options = {
    by: "Bob",
    reason: "wrong",
    from: undefined,
    assumptions: defaultAssumptions,
    decisions: "keep",
  } as const;
  const onboard = (id: string, last_name: string) => {
    const input = { cardholder: { ...cardholder, last_name, phone_number: "+4930000000" }, card };
    const planned = planOnboarding(input, defaultAssumptions);
    return startRun(temporal, id, planned, { startedBy: "Ada", journal });
  };
  await simulator.addFault({ kind: "refusal-in-200", operation: "createCardholder" });
  await onboard("person-1", "Example");
  await expectState("person-1", "failed");
  const ofPhone = { ...options, patch: parsed(shownJson("docs/repair.md", 1)) };
  expect((await planRetryOf(temporal, "person-1", ofPhone)).plan.from).toBe("createCardholder");
  await onboard("person-2", "Refused");
  await expectState("person-2", "failed");
  const ofBirth = { ...options, patch: parsed(shownJson("docs/repair.md", 2)) };
  expect((await planRetryOf(temporal, "person-2", ofBirth)).plan.from).toBe("createCardholder");

  await simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await start("invoice-2026-010", { onRefusal: "ask" });
  const asked = await vi.waitFor(() => readHumanTask(temporal, "invoice-2026-010"), WAITING);
  await resolveRun(temporal, "invoice-2026-010", {
    question: asked.task.question,
    by: "Bob",
    decision: { amend: parsed(shownJson("docs/lost-answers.md", 1)) },
    assumptions: defaultAssumptions,
  });
  await expectState("invoice-2026-010", "completed");
  expect((await simulator.state()).payouts.at(-1)).toMatchObject({ amount: "20.00" });
});

it("posts notifications as the documents show them", async () => {
  const shape = (json: string): unknown => {
    const { data, type } = JSON.parse(json) as { type: string; data: Record<string, string> };
    return [type, Object.keys(data), data["state"], data["stage"], data["workflowType"]];
  };
  const posted = await vi.waitFor(() => {
    const lines = endpoint.stdout().split("\n");
    const found = lines.find((line) => line.includes("runs show invoice-2026-009"));
    if (found === undefined) throw new Error("it is not posted yet");
    return found;
  }, WAITING);
  expect(shape(posted)).toEqual(shape(shownJson("docs/notifications.md", 1)));
});

it("pays a batch", async () => {
  const print = vi.spyOn(console, "log").mockReturnValue();
  cpSync(join(checkout, "examples/payouts.csv"), join(folder, "payouts.csv"));
  const from = process.cwd();
  process.chdir(folder);
  const options = {
    startedBy: "Ada",
    approveAbove: undefined,
    window: undefined,
    journal,
    overrule: undefined,
  };
  const nothing = () => undefined;
  const observer = { onRows: nothing, onFound: nothing, onChunk: nothing, onWritten: nothing };
  // #region example
  const checked = await checkBatchFile("payouts.csv", defaultAssumptions);
  const { outcome } = await importBatch(temporal, checked, options, observer);
  if (outcome === "started") await awaitBatch(temporal, checked.batch, console.log);
  // #endregion
  process.chdir(from);
  expect(outcome).toBe("started");
  // #region example
  const report = await reportBatch(temporal, checked.batch);
  if (!isEachPaid(report)) console.log(report.runs.failed, report.runs.attention);
  // #endregion
  expect(isEachPaid(report)).toBe(true);
  print.mockClear();
  // #region example
  for await (const { file, runs } of listBatches(temporal)) {
    console.log(file, runs.completed, runs.failed);
  }
  // #endregion
  expect(print).toHaveBeenCalledWith("payouts.csv", 2, 0);
  print.mockRestore();
});

it("looks after workers, namespace and notifications", async () => {
  // #region example
  const { missing } = await planFix(temporal);
  if (missing.length > 0) await fixNamespace(temporal);
  // #endregion
  expect(missing).toEqual([]);
  const service = await Effect.runPromise(Effect.result(clientOptionsFromEnvironment));
  const settings = { temporal: () => temporalSettings(process.env), journal, service };
  const print = vi.spyOn(console, "log").mockReturnValue();
  // #region example
  const { isWell, checks } = await diagnose(settings);
  for (const { name, detail } of checks) console.log(name, detail);
  // #endregion
  print.mockRestore();
  expect([isWell, checks.filter(({ status }) => status === "failed")]).toEqual([true, []]);
  // #region example
  const { isDelivered, status, why } = await testNotification(temporal);
  // #endregion
  expect({ isDelivered, status, why }).toMatchObject({ isDelivered: true, status: 204 });
  // #region example
  await pauseSends(temporal, { by: "Ada", why: "the bank reports duplicates" });
  // #endregion
  await resumeSends(temporal, "Ada");
});

it("makes activities and journals without the plugin", async () => {
  const { apiKey, clientId, url: baseUrl } = simulator;
  const client = clientHash({ clientId });
  const from = process.cwd();
  process.chdir(folder);
  // #region example
  const runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl, clientId, apiKey }));
  const place = readJournalPlace(process.env["PAYMENTS_JOURNAL"], client);
  const journal = await openJournal(place, client);
  const activities = makePaymentsActivities(runtime, { journal, maxAmounts: { USD: "10000.00" } });
  const worker = await Worker.create({ connection, taskQueue: "accounts-payable", activities });
  // #endregion
  await worker.runUntil(Promise.resolve());
  await journal.close();
  const euRuntime = runtime;
  const usRuntime = runtime;
  {
    // #region example
    const place = readJournalPlace("sqlite:payments.sqlite", client);
    const journal = await openJournal(place, client);
    // #endregion
    const euJournal = journal;
    const usJournal = journal;
    // #region example
    const activities = forAccounts(
      new Map([
        ["eu", makePaymentsActivities(euRuntime, { account: "eu", journal: euJournal })],
        ["us", makePaymentsActivities(usRuntime, { account: "us", journal: usJournal })],
      ]),
    );
    // #endregion
    expect(Object.keys(activities)).toContain("createPayout");
    await journal.close();
  }
  process.chdir(from);
  await runtime.dispose();
});

it("imports the programs of the READMEs of the journal and the simulator", async () => {
  expect(await printedBy(new URL("./keep-journal.ts", import.meta.url))).toBe("");
  expect(await printedBy(new URL("./use-simulator.ts", import.meta.url))).toBe("0 0");
});

it("gives the plugin its settings", async () => {
  const readSecret = async (name: string) => `whsec_${name}`;
  // #region example
  const plugin = new PaymentsPlugin({
    // The account: PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID, PAYMENTS_API_KEY.
    baseUrl: "https://payments.example",
    clientId: "…",
    apiKey: await readSecret("payments-api-key"),
    // PAYMENTS_JOURNAL: workers on more than one host share PostgreSQL.
    journal: "postgres://payments:…@db.example/journal",
    // PAYMENTS_MAX_AMOUNTS, PAYMENTS_APPROVE_ABOVE.
    maxAmounts: { EUR: "50000.00" },
    approveAbove: { EUR: "10000.00" },
    // PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: calls of the service, of all workers together.
    activitiesPerSecond: 20,
    // PAYMENTS_NOTIFY_URL, PAYMENTS_NOTIFY_SECRET: docs/notifications.md.
    notify: { url: "https://alerts.example/payments", secret: await readSecret("webhook") },
    onReady: () => console.log("polls"),
  });
  // #endregion
  expect(plugin.name).toBe("durable-payments");
});

it("traces what it starts where the environment names a collector", async () => {
  // #region example
  const tracing = await openTracing(process.env, { serviceName: "billing", warn: console.warn });
  const settings = {
    ...temporalSettings(process.env),
    interceptors: tracing ? [traceStarts(tracing)] : [],
  };
  // #endregion
  expect(settings.interceptors).toEqual([]);
});

it("reads what is encrypted, and what is not, by the converter of the workers", async () => {
  await start("invoice-7");
  await expectState("invoice-7", "completed");
  const namespace = "default";
  const { connection } = temporal;
  // #region example
  const dataConverter = encryptedDataConverter({
    namespace,
    keys: openKeyring("/etc/payments/keys"),
  });
  const client = new Client({ connection, namespace, dataConverter });
  // #endregion
  // #region example
  const history = await client.workflow.getHandle("invoice-7").fetchHistory();
  await decodeMessage(history, dataConverter);
  // #endregion
  expect(history.events?.length).toBeGreaterThan(5);
  {
    // #region example
    const client = new Client({
      connection: decodingConnection(connection, dataConverter),
      dataConverter,
    });
    // #endregion
    expect((await client.workflow.getHandle("invoice-7").describe()).status.name).toBe("COMPLETED");
  }
  {
    // #region example
    const dataConverter = readDataConverter(process.env, namespace);
    const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) });
    // #endregion
    expect(dataConverter).toBeUndefined();
    expect((await client.workflow.getHandle("invoice-7").describe()).status.name).toBe("COMPLETED");
  }
  // #region example
  const converter = encryptedDataConverter({
    namespace: "payments",
    keys: openKeyring("/etc/payments/keys"),
  });
  // #endregion
  expect(converter.payloadCodecs).toHaveLength(1);
});
