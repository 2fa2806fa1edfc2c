import { workerQueues } from "@durable-payments/activities";
import { serviceQueue } from "@durable-payments/protocol";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { createLocalEnvironment, startApp } from "@durable-payments/tools/testing";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { makeFolder, type TestFolder } from "./support/folder.ts";
import { payoutInput } from "./support/inputs.ts";

// A busy machine takes its time.
vi.setConfig({ hookTimeout: 90_000 });

let folder: TestFolder;
let temporal: Awaited<ReturnType<typeof createLocalEnvironment>>;
let simulator: Simulator;
beforeAll(async () => {
  folder = makeFolder();
  [temporal, simulator] = await Promise.all([
    createLocalEnvironment(),
    startSimulator({ settleAfter: 0 }),
  ]);
});
afterAll(async () => {
  await temporal?.teardown();
  await simulator?.stop();
  folder.remove();
});

const startWorker = (rate: number) =>
  startApp("worker", ["--json"], {
    ...folder.variables,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_TASK_QUEUE: "payments",
    PAYMENTS_BASE_URL: simulator.url,
    PAYMENTS_CLIENT_ID: simulator.clientId,
    PAYMENTS_API_KEY: simulator.apiKey,
    PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: String(rate),
  });

it(
  "two workers together begin no more activities than the rate of the fleet allows",
  { timeout: 300_000 },
  async () => {
    const rate = 20;
    const queue = serviceQueue("payments");
    const ofTheService = workerQueues("payments", {
      activitiesPerSecond: rate,
    }).activityQueues.find(({ taskQueue }) => taskQueue === queue)?.maxTaskQueueActivitiesPerSecond;
    // Fallback polling has a twentieth of it here, batches half of the rest.
    expect(ofTheService).toBe(9.5);
    const first = await startWorker(rate);
    const second = await startWorker(rate);
    const handles = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        temporal.client.workflow.start("payout", {
          workflowId: `payout-${index}`,
          taskQueue: "payments",
          args: [payoutInput],
        }),
      ),
    );
    await Promise.all(handles.map((handle) => handle.result()));
    await Promise.all([first.kill(), second.kill()]);

    const histories = await Promise.all(handles.map((handle) => handle.fetchHistory()));
    const begun = histories
      .flatMap(({ events }) => {
        const own = new Set(
          (events ?? [])
            .filter(
              (event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name === queue,
            )
            .map(({ eventId }) => String(eventId)),
        );
        return (events ?? []).filter(({ activityTaskStartedEventAttributes: started }) =>
          own.has(String(started?.scheduledEventId)),
        );
      })
      .map(({ eventTime }) => Number(eventTime?.seconds) * 1000 + (eventTime?.nanos ?? 0) / 1e6)
      .toSorted((one, other) => one - other);
    expect(begun.length).toBeGreaterThanOrEqual(60);
    const seconds = ((begun.at(-1) ?? 0) - (begun[0] ?? 0)) / 1000;
    // The server lets a second's worth through at once, rounded up in each of four partitions.
    expect(begun.length).toBeLessThanOrEqual((ofTheService ?? 0) * (seconds + 1) + 4);
  },
);
