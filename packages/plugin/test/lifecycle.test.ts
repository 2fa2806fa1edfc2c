import { trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import type { WorkflowHandle } from "@temporalio/client";
import type { PayloadCodec } from "@temporalio/common";
import { NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import proto from "@temporalio/proto";
import { expect, it, vi } from "vitest";
import { type PaymentsSettings, PaymentsPlugin } from "../src/index.ts";
import { paymentsPluginIn } from "../src/payments-plugin.ts";
import { bundleAhead } from "./support/bundle.ts";
import { makeRig } from "./support/rig.ts";

const WAITING = { timeout: 120_000, interval: 100 };
const QUEUES = ["", "/service", "/batch", "/fallback-polling"];
const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

const { pay, settings, simulator, temporal } = await makeRig({ settleAfter: 0 });
const workflowBundle = await bundleAhead();
const connection = temporal.nativeConnection;

const create = (plugin: PaymentsPlugin, taskQueue: string, options: Partial<WorkerOptions> = {}) =>
  Worker.create({ connection, taskQueue, workflowBundle, plugins: [plugin], ...options });

const pollersOf = async (taskQueue: string) => {
  const { pollers } = await temporal.client.workflowService.describeTaskQueue({
    namespace: "default",
    taskQueue: { name: taskQueue },
    taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
  });
  return pollers ?? [];
};

const untilPolled = (taskQueue: string) =>
  vi.waitFor(
    async () =>
      expect(
        await Promise.all(
          QUEUES.map(async (name) => (await pollersOf(taskQueue + name)).length > 0),
        ),
      ).toEqual(QUEUES.map(() => true)),
    WAITING,
  );

it("one instance serves two workers of a process, each by itself, and others after them", async () => {
  const plugin = new PaymentsPlugin(settings);
  const [one, two] = await Promise.all([create(plugin, "one"), create(plugin, "two")]);
  const running = two.run();
  await one.runUntil(async () => (await pay("on-one", "one")).result());
  // The first has drained, with its companions; the second has not.
  expect(two.getState()).toBe("RUNNING");
  await (await pay("on-two", "two")).result();
  two.shutdown();
  await running;
  const later = await create(plugin, "one");
  expect(await later.runUntil(async () => (await pay("later", "one")).result())).toMatchObject({
    payout_status: "completed",
  });
  expect((await simulator.state()).payouts).toHaveLength(3);
});

it("a worker works for the account for which it was created, whatever the variables are by then", async () => {
  const { apiKey, baseUrl, clientId, journal } = settings;
  const environment: Record<string, string> = {
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: apiKey,
    PAYMENTS_JOURNAL: journal,
  };
  const worker = await create(paymentsPluginIn({ environment, skipsTime: false }, {}), "created");
  Object.assign(environment, { PAYMENTS_CLIENT_ID: "another", PAYMENTS_API_KEY: "another-key" });
  expect(
    await worker.runUntil(async () => (await pay("created", "created")).result()),
  ).toMatchObject({
    payout_status: "completed",
  });
});

it("given to the connection it configures workers and clients, once where a worker has it, too", async () => {
  const ready = vi.fn<NonNullable<PaymentsSettings["onReady"]>>();
  const plugin = new PaymentsPlugin({ ...settings, onReady: ready });
  const own = await NativeConnection.connect({ address: temporal.address, plugins: [plugin] });
  const worker = await create(plugin, "by-connection", { connection: own });
  await worker.runUntil(async () => (await pay("by-connection", "by-connection")).result());
  expect(ready.mock.calls).toEqual([
    [
      {
        namespace: "default",
        taskQueue: "by-connection",
        journal: expect.stringMatching(/^the file .*journal\.sqlite/) as unknown,
      },
    ],
  ]);
  // It is held by nobody.
  await own.close();
});

it("what a worker and its plugins say holds for the workers beside it", async () => {
  const encoded = new Set<string>();
  const executed = new Set<string>();
  const codec: PayloadCodec = {
    encode: async (payloads) =>
      payloads.map((payload) => ({
        ...payload,
        metadata: { ...payload.metadata, sealed: Buffer.from("yes") },
      })),
    decode: async (payloads) => payloads,
  };
  const later = {
    name: "later",
    configureWorker: (options: WorkerOptions): WorkerOptions => ({
      ...options,
      identity: "by-a-plugin",
      dataConverter: { payloadCodecs: [codec] },
    }),
  };
  const version = { deploymentName: "mine", buildId: "7" };
  const worker = await create(new PaymentsPlugin(settings), "carried", {
    plugins: [new PaymentsPlugin(settings), later],
    maxConcurrentActivityTaskExecutions: 3,
    workerDeploymentOptions: { version, useWorkerVersioning: false },
    interceptors: {
      activity: [
        ({ info }) => ({
          inbound: {
            execute: (input, next) => {
              executed.add(`${info.taskQueue} ${info.activityType}`);
              return next(input);
            },
          },
        }),
      ],
    },
  });
  const running = worker.run();
  await untilPolled("carried");
  for (const name of QUEUES) {
    const pollers = await pollersOf(`carried${name}`);
    expect(pollers.map(({ identity }) => identity)).toEqual(["by-a-plugin"]);
    expect(pollers[0]?.deploymentOptions).toMatchObject(version);
  }
  const handle: WorkflowHandle = await pay("carried", "carried");
  await handle.result();
  worker.shutdown();
  await running;
  expect(executed).toContain("carried/service createPayout");
  const { events } = await handle.fetchHistory();
  for (const { activityTaskCompletedEventAttributes: done } of events ?? []) {
    for (const { metadata } of done?.result?.payloads ?? []) {
      encoded.add(Buffer.from(metadata?.["sealed"] ?? []).toString());
    }
  }
  expect([...encoded]).toEqual(["yes"]);
});

it("takes over the tracker from a task queue that nobody polls any more, and from no other", async () => {
  const { client } = temporal;
  const tracker = client.workflow.getHandle(trackerId(accountHash(settings)));
  await tracker.terminate();
  await client.workflow.start("tracker", {
    workflowId: tracker.workflowId,
    taskQueue: "renamed-since",
  });
  const queue = async () => (await tracker.describe()).taskQueue;
  const one = await create(new PaymentsPlugin(settings), "first");
  await one.runUntil(async () => {
    await vi.waitFor(async () => expect(await queue()).toBe("first"), WAITING);
    const other = await create(new PaymentsPlugin(settings), "second");
    await other.runUntil(async () => (await pay("on-second", "second")).result());
    expect(await queue()).toBe("first");
  });
});
