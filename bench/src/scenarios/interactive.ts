import { makePaymentsClient } from "@durable-payments/api-core";
import {
  batchOfChunks,
  canonicalJson,
  contentOfPayout,
  hashOfRows,
  rowWorkflowId,
} from "@durable-payments/activities/payout-content";
import { type BatchRow, chunkId } from "@durable-payments/protocol";
import { startApp } from "@durable-payments/tools/testing";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { medianSorted, quantileSorted } from "simple-statistics";
import { type Row, rowOf } from "../row.ts";
import type { Scenario, ScenarioContext } from "../scenario.ts";
import { beneficiary, payoutInput } from "../workflows/inputs.ts";
import { startWorld } from "../workflows/world.ts";

/**
 * Activities a second of the whole fleet; half of it may be used by batches. Low, so that it, and
 * not the machine, is what the batch waits for.
 */
const RATE = 20;
const TASK_QUEUE = "bench-interactive";
const ROWS_A_CHUNK = 200;
/** More than the rows of any size pay. */
const MOST_IN_TOTAL = "1000000000.00";
/** So many payouts of the batch are there before others are measured beside it. */
const UNDER_WAY = 100;
/** Between two probes, so that they do not wait for a rate themselves. */
const PROBE_EVERY_MS = 400;

interface Latency {
  readonly p50: number;
  readonly p95: number;
}

const latencyOf = (milliseconds: ReadonlyArray<number>): Latency => {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  return { p50: medianSorted(sorted), p95: quantileSorted(sorted, 0.95) };
};

const milliseconds = (time: { seconds?: unknown; nanos?: number | null } | null | undefined) =>
  Number(time?.seconds ?? Number.NaN) * 1000 + (time?.nanos ?? 0) / 1_000_000;

/** When Temporal recorded that the payout is created; undefined where it is not yet. */
const createdAt = async (handle: WorkflowHandle): Promise<number | undefined> => {
  const events = (await handle.fetchHistory()).events ?? [];
  const scheduled = events.find(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "createPayout",
  );
  const completed = events.find((event) =>
    event.activityTaskCompletedEventAttributes?.scheduledEventId?.eq(scheduled?.eventId ?? 0),
  );
  return completed && milliseconds(completed.eventTime);
};

/** Milliseconds from the wish for a payout to its creation, of one payout that a person starts. */
const probe = async (client: Client, beneficiary_id: string, signal: AbortSignal) => {
  const workflowId = `interactive-${randomUUID()}`;
  const since = Date.now();
  const handle = await client.workflow.start("payout", {
    args: [payoutInput(beneficiary_id, workflowId)],
    taskQueue: TASK_QUEUE,
    workflowId,
  });
  for (;;) {
    await sleep(PROBE_EVERY_MS, undefined, { signal });
    const at = await createdAt(handle);
    if (at !== undefined) return at - since;
  }
};

/** Starts a batch as the starter does: its rows in chunks, then the run that pays them. */
const startBatch = async (
  client: Client,
  beneficiary_id: string,
  size: number,
): Promise<string> => {
  const rows = Array.from({ length: size }, (_, index): BatchRow => {
    const key = `batch-${index}`;
    const input = payoutInput(beneficiary_id, key);
    return {
      row: index + 2,
      key,
      workflowId: rowWorkflowId(key),
      fingerprint: contentOfPayout(input),
      currency: "USD",
      summary: key,
      input,
    };
  });
  const chunks = Array.from({ length: Math.ceil(size / ROWS_A_CHUNK) }, (_, index) =>
    rows.slice(index * ROWS_A_CHUNK, (index + 1) * ROWS_A_CHUNK),
  );
  const hashes = chunks.map((chunk) => hashOfRows(chunk.map((row) => canonicalJson(row))));
  const workflowId = batchOfChunks(hashes);
  for (const [index, chunk] of chunks.entries()) {
    await client.workflow.start("payoutBatchChunk", {
      workflowId: chunkId(workflowId, index + 1),
      taskQueue: TASK_QUEUE,
      args: [chunk],
      startDelay: "365 days",
    });
  }
  await client.workflow.start("payoutBatch", {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [{ chunks: chunks.length, hashes, rows: size, totals: { USD: MOST_IN_TOTAL } }],
  });
  return workflowId;
};

/** How many payouts of the batch there are, begun and ended. */
const countBatch = async (client: Client, batch: string): Promise<number> =>
  (await client.workflow.count(`PaymentBatch = "${batch}"`)).count;

/** One round: payouts alone, then beside a batch, on a server and a worker that no other uses. */
const round = async (
  size: number,
  probes: number,
  { progress, server, signal }: ScenarioContext,
) => {
  const world = await startWorld({ server });
  const worker = await startApp("worker", ["--json"], {
    ...world.serviceVariables,
    TEMPORAL_ADDRESS: world.temporalAddress,
    TEMPORAL_NAMESPACE: "default",
    PAYMENTS_TASK_QUEUE: TASK_QUEUE,
    PAYMENTS_FLEET_ACTIVITIES_PER_SECOND: String(RATE),
  });
  const connection = await Connection.connect({ address: world.temporalAddress });
  const client = new Client({ connection });
  const service = makePaymentsClient({
    baseUrl: world.serviceVariables["PAYMENTS_BASE_URL"] ?? "",
    clientId: world.serviceVariables["PAYMENTS_CLIENT_ID"] ?? "",
    apiKey: world.serviceVariables["PAYMENTS_API_KEY"] ?? "",
  });
  try {
    const { beneficiary_id } = await service.createBeneficiary(beneficiary);
    const probeAll = async (): Promise<Latency> => {
      const latencies: Array<number> = [];
      while (latencies.length < probes) {
        latencies.push(await probe(client, beneficiary_id, signal));
      }
      return latencyOf(latencies);
    };
    for (let warmUp = 0; warmUp < 3; warmUp++) await probe(client, beneficiary_id, signal);
    const alone = await probeAll();
    const batch = await startBatch(client, beneficiary_id, size);
    while ((await countBatch(client, batch)) < UNDER_WAY) await sleep(200, undefined, { signal });
    const beside = await probeAll();
    const { status } = await client.workflow.getHandle(batch).describe();
    progress(`${await countBatch(client, batch)} of ${size} payouts of the batch were begun`);
    if (status.name !== "RUNNING") throw new Error("The batch ended before its measuring did.");
    return { alone, beside };
  } finally {
    await service.close();
    await connection.close();
    await worker.kill("SIGKILL");
    await world.stop();
  }
};

/** A person's payout, from its start to its creation, alone and beside a batch. */
export const scenario: Scenario = async (context) => {
  const rows: Array<Row> = [];
  for (const size of context.quick ? [1_000] : [1_000, 10_000]) {
    const readings: Array<{ readonly alone: Latency; readonly beside: Latency }> = [];
    for (let number = 1; number <= (context.quick ? 1 : 3); number++) {
      context.signal.throwIfAborted();
      context.progress(`a batch of ${size}, round ${number}`);
      readings.push(await round(size, context.quick ? 15 : 60, context));
    }
    for (const [part, target] of [
      ["p50", { atMost: 1.5 }],
      ["p95", undefined],
    ] as const) {
      rows.push(
        rowOf({
          name: `interactive: payout created, beside a batch of ${size}, ${part}`,
          unit: "ms",
          ours: readings.map(({ beside }) => beside[part]),
          baseline: readings.map(({ alone }) => alone[part]),
          ...(target && { target }),
        }),
      );
    }
  }
  return rows;
};
