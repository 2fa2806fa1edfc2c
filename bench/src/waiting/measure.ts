import { setTimeout as sleep } from "node:timers/promises";
import type { Tracking } from "@durable-payments/activities";
import { payoutStartAttributes } from "@durable-payments/activities/start-attributes";
import { makePaymentsClient } from "@durable-payments/api-core";
import { trackerId } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { median } from "simple-statistics";
import { startChild } from "../processes/child.ts";
import type { ScenarioContext } from "../scenario.ts";
import { beneficiary, payoutInput } from "../workflows/inputs.ts";
import { each } from "./each.ts";
import { startWaitingWorld } from "./place.ts";

/** Payouts, all of which wait at the same time, or none. */
export interface WaitingTask {
  readonly payouts: number;
  readonly waits: boolean;
  /** How long all of them wait together, in seconds. */
  readonly holdSeconds: number;
}

/** What they cost. */
export interface WaitingReading {
  /** Seconds of CPU. */
  readonly serverCpu: number;
  readonly workerCpu: number;
  /** Events, and bytes, of the history of a run: the median, as lost answers lengthen some. */
  readonly events: number;
  readonly bytes: number;
  /** Activity tasks that waiting took: looks of the runs' own, and attempts of the tracker. */
  readonly waitingTasks: number;
  readonly listRequests: number;
  readonly sweeps: number;
  /** Of one sweep. */
  readonly mostRequests: number;
  /** From the end of the last payout until the last run knew, in seconds. */
  readonly signalledAfter: number;
}

const AT_ONCE = 8;
const RUNNING = 'ExecutionStatus = "Running"';
/** Runs whose histories are counted. */
const SAMPLE = 50;

const untilCount = async (
  client: Client,
  query: string,
  count: number,
  signal: AbortSignal,
): Promise<void> => {
  while ((await client.workflow.count(query)).count !== count) {
    await sleep(2_000, undefined, { signal });
  }
};

/** What the last heartbeat of the tracker carried. */
const trackingOf = async (tracker: WorkflowHandle): Promise<Tracking | undefined> => {
  const { pendingActivities } = (await tracker.describe()).raw;
  const data = pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0]?.data;
  // As the tracker's activity encodes it, in JSON.
  return data ? (JSON.parse(Buffer.from(data).toString()) as Tracking) : undefined;
};

const ids = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, i) => `payout-${i}`);

/** Starts the payouts on a separate server and worker, and awaits their end. */
export const measureWaiting = async (
  { holdSeconds, payouts, waits }: WaitingTask,
  { progress, signal }: Pick<ScenarioContext, "progress" | "signal">,
): Promise<WaitingReading> => {
  const world = await startWaitingWorld();
  const { place } = world;
  const worker = await startChild<object, number>(new URL("./worker-process.ts", import.meta.url), [
    JSON.stringify(place),
  ]);
  const connection = await Connection.connect({ address: place.temporalAddress });
  const client = new Client({ connection });
  const { apiKey, baseUrl, clientId } = place;
  const service = makePaymentsClient({ apiKey, baseUrl, clientId });
  const { taskQueue } = place;
  const account = accountHash(place);
  try {
    const { beneficiary_id } = await service.createBeneficiary(beneficiary);
    const workflow = waits ? "payout" : "payoutWithoutWaiting";
    const workerBefore = await worker.run({});
    const serverBefore = await world.serverCpu();
    const tracker = waits
      ? await client.workflow.start("tracker", { taskQueue, workflowId: trackerId(account) })
      : undefined;
    progress(`${payouts} payouts, ${waits ? "waiting" : "not waiting"}`);
    await each(ids(payouts), AT_ONCE, async (workflowId) => {
      const input = payoutInput(beneficiary_id, workflowId);
      await client.workflow.start(workflow, {
        args: [input],
        taskQueue,
        workflowId,
        typedSearchAttributes: [...payoutStartAttributes(workflowId, input, account)],
      });
    });
    let signalledAfter = 0;
    let tracking: Tracking | undefined;
    if (tracker !== undefined) {
      await untilCount(client, `${RUNNING} AND PaymentAwaits IS NOT NULL`, payouts, signal);
      progress(`${payouts} payouts wait`);
      await sleep(holdSeconds * 1_000, undefined, { signal });
      const made = (await world.ledger()).payouts;
      await each(made, AT_ONCE, ({ payout_id }) => world.complete(payout_id));
      const completed = Date.now();
      await untilCount(client, `${RUNNING} AND WorkflowType = "payout"`, 0, signal);
      signalledAfter = (Date.now() - completed) / 1000;
      tracking = await trackingOf(tracker);
    } else {
      await untilCount(client, RUNNING, 0, signal);
    }
    const serverCpu = (await world.serverCpu()) - serverBefore;
    const workerCpu = (await worker.run({})) - workerBefore;
    const lengths: Array<number> = [];
    const sizes: Array<number> = [];
    await each(ids(payouts).slice(-SAMPLE), AT_ONCE, async (workflowId) => {
      const { historyLength, historySize } = await client.workflow.getHandle(workflowId).describe();
      lengths.push(historyLength);
      sizes.push(historySize ?? 0);
    });
    const { requests } = await world.ledger();
    return {
      serverCpu,
      workerCpu,
      events: median(lengths),
      bytes: median(sizes),
      waitingTasks: (requests["retrievePayout"] ?? 0) + (waits ? 1 : 0),
      listRequests: requests["listPayouts"] ?? 0,
      sweeps: tracking?.sweeps ?? 0,
      mostRequests: tracking?.mostRequests ?? 0,
      signalledAfter,
    };
  } finally {
    await service.close();
    await connection.close();
    await worker.stop();
    await world.stop();
  }
};
