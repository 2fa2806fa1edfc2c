import { batchQueue } from "@durable-payments/protocol";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { payout } from "../src/index.ts";
import { payoutInput } from "./support/inputs.ts";
import { localRig, type Rig, withWorker } from "./support/rig.ts";
import { type Service, startService } from "./support/service.ts";

// A busy machine takes its time.

let rig: Rig;
let service: Service;
beforeAll(async () => {
  [rig, service] = await Promise.all([localRig(), startService()]);
});
afterAll(async () => {
  await rig?.end();
  await service?.stop();
});

it.each([
  ["by itself", (taskQueue: string) => taskQueue, "service"],
  ["of a batch", batchQueue, "batch"],
])("a run %s calls the service on the task queue for that", async (_, queueOf, name) => {
  const settled = { ...service.activities };
  settled.awaitPayoutEnd = async ({ payout_id, until }) => {
    await service.simulator.setPayoutStatus(payout_id, "completed");
    return service.activities.awaitPayoutEnd({
      payout_id,
      minIntervalMs: 1_000,
      maxIntervalMs: 1_000,
      until,
    });
  };
  await withWorker(rig, settled, async ({ taskQueue }) => {
    const handle = await rig.environment.client.workflow.start(payout, {
      args: [payoutInput],
      taskQueue: queueOf(taskQueue),
      workflowId: randomUUID(),
    });
    await handle.result();
    const { events } = await handle.fetchHistory();
    const created = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name?.startsWith("create") ? [scheduled.taskQueue?.name] : [],
    );
    expect(created).toEqual([`${taskQueue}/${name}`, `${taskQueue}/${name}`]);
  });
});
