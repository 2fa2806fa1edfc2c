import { workerQueues } from "@durable-payments/activities";
import { serviceQueue } from "@durable-payments/protocol";
import { expect, it } from "vitest";
import { payoutInput } from "./support/inputs.ts";
import { makeRig } from "./support/rig.ts";

const { startWorker, temporal } = await makeRig({ settleAfter: 0 });

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
    const settings = { PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: String(rate) };
    const first = await startWorker(settings);
    const second = await startWorker(settings);
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
