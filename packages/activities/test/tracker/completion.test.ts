import { accountHash } from "@durable-payments/protocol";
import { PaymentsClient } from "@durable-payments/client/effect";
import { type Ledger, openLedger } from "@durable-payments/ledger";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment } from "@durable-payments/tools/testing";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { Worker } from "@temporalio/worker";
import { Effect, ManagedRuntime } from "effect";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import {
  findEnd,
  makePaymentsActivities,
  type PaymentsRuntime,
  readTracked,
} from "../../src/index.ts";
import { optionsOf } from "../../src/run-operation.ts";
import { closeLeftWaits } from "../../src/tracker/janitor.ts";
import { attempt } from "../support/attempts.ts";
import { beneficiary, payout } from "../support/bodies.ts";
import { putRow } from "../support/rows.ts";
import type { waitsForNudge, waitsForPayout } from "../support/workflows.ts";

const taskQueue = "payments";

let env: TestWorkflowEnvironment;
let simulator: Simulator;
let runtime: PaymentsRuntime;
let ledger: Ledger;
let stopWorker: () => Promise<void>;

const activities = () =>
  makePaymentsActivities(runtime, { ledger, taskQueue, tracker: { turnMs: 60_000 } });

beforeAll(async () => {
  simulator = await startSimulator({ settleAfter: Infinity, balances: { USD: "100000.00" } });
  const { apiKey, clientId, url } = simulator;
  runtime = ManagedRuntime.make(PaymentsClient.layer({ baseUrl: url, clientId, apiKey }));
  ledger = await openLedger("memory");
  env = await createLocalEnvironment();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowsPath: fileURLToPath(import.meta.resolve("../support/workflows.ts")),
    bundlerOptions: {
      webpackConfigHook: (config) => ({
        ...config,
        resolve: { ...config.resolve, conditionNames: ["@durable-payments/source", "..."] },
      }),
    },
    activities: activities(),
  });
  const running = worker.run();
  stopWorker = async () => {
    worker.shutdown();
    await running;
  };
}, 60_000);

afterAll(async () => {
  await stopWorker();
  await env.teardown();
  await ledger.close();
  await runtime.dispose();
  await simulator.stop();
});

/** The tracker of these tests: an attempt of its activity. */
beforeEach(async () => {
  const account = await optionsOf(runtime).then(accountHash);
  const tracking = attempt({}, env.client);
  const running = tracking.run(activities().track, { account }).catch(() => undefined);
  onTestFinished(async () => {
    tracking.cancel("CANCELLED");
    await running;
  });
});

const waitForPayout = async (workflowId: string) => {
  const payout_id = await runtime.runPromise(
    Effect.gen(function* () {
      const client = yield* PaymentsClient;
      const { beneficiary_id } = yield* client.createBeneficiary(beneficiary);
      const unique_request_id = workflowId;
      return (yield* client.createPayout({ ...payout, beneficiary_id, unique_request_id }))
        .payout_id;
    }),
  );
  const handle = await env.client.workflow.start<typeof waitsForPayout>("waitsForPayout", {
    workflowId,
    taskQueue,
    args: [payout_id],
  });
  const isRecorded = async () =>
    expect(await ledger.waits({ workflowId, isOpen: true })).not.toEqual([]);
  await vi.waitFor(isRecorded, { timeout: 10_000, interval: 50 });
  return { handle, payout_id };
};

const pendingOf = async (workflowId: string) =>
  (await env.client.workflow.getHandle(workflowId).describe()).raw.pendingActivities?.[0];

it("an activity is completed in back-off", async () => {
  const { handle, payout_id } = await waitForPayout("back-off");
  const isInBackOff = async () => expect((await pendingOf("back-off"))?.attempt).toBe(2);
  await vi.waitFor(isInBackOff, { timeout: 10_000, interval: 50 });
  await simulator.setPayoutStatus(payout_id, "completed");
  expect(await handle.result()).toMatchObject({ payout_id, outcome: "completed" });
  await vi.waitFor(async () => expect(await ledger.waits({ isOpen: true })).toEqual([]));
});

it("an activity is completed after a reset", async () => {
  const { handle, payout_id } = await waitForPayout("reset");
  const { events } = await handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await env.client.workflowService.resetWorkflowExecution({
    namespace: env.client.options.namespace,
    workflowExecution: { workflowId: "reset", runId: handle.firstExecutionRunId },
    workflowTaskFinishEventId: first!.eventId!,
    reason: "a test",
    requestId: "1",
  });
  const later = env.client.workflow.getHandle("reset", runId);
  await simulator.setPayoutStatus(payout_id, "completed");
  expect(await later.result()).toMatchObject({ payout_id, outcome: "completed" });
});

it("a run whose answer was left is notified", async () => {
  const handle = await env.client.workflow.start<typeof waitsForNudge>("waitsForNudge", {
    workflowId: "unnotified",
    taskQueue,
  });
  await putRow(ledger, {
    account: await optionsOf(runtime).then(accountHash),
    workflowId: "unnotified",
    state: "done",
    madeId: "p",
    mustNotify: true,
  });
  expect(await handle.result()).toEqual({ steps: ["createPayout"] });
}, 20_000);

it("what no tracker has said is no witness", async () => {
  expect(await readTracked(env.client, "tracker/none")).toBeUndefined();
});

it("the end of a run is read, and its waits are closed, whatever bytes its starter has put into the memo", async () => {
  const [workflowId, namespace] = ["odd", env.client.options.namespace];
  const odd = { metadata: { encoding: Buffer.from("binary/none") }, data: Buffer.from("x") };
  await env.client.workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    identity: "test",
    requestId: "1",
    workflowType: { name: "payout" },
    taskQueue: { name: "nobody" },
    memo: { fields: { odd } },
  });
  expect(await findEnd(env.client, workflowId)).toMatchObject({ workflowId, endState: null });
  const account = await optionsOf(runtime).then(accountHash);
  const of = { account, workflowId, runId: "1" };
  const nothing = { amount: null, currency: null, payee: null, reference: null };
  await ledger.recordRun({ ...of, ...nothing, type: "payout", batch: null, batchRow: null }, 1);
  await ledger.openWait({ ...of, activityId: "a", kind: "payout", thing: "p-odd" });
  await env.client.workflow.getHandle(workflowId).terminate("a test");
  const end = await findEnd(env.client, workflowId);
  expect(end).toMatchObject({ workflowId, endState: "terminated" });
  await ledger.recordEnds([end]);
  await closeLeftWaits(ledger, account, env.client);
  expect(await ledger.waits({ workflowId, isOpen: true })).toEqual([]);
});
