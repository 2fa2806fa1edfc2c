import { createHash } from "node:crypto";
import { canonicalJson, hashOfRows } from "@durable-payments/activities/payout-content";
import {
  batchId,
  chunkId,
  PAUSE_TYPE,
  pauseId,
  settlementId,
  settlementQueue,
} from "@durable-payments/protocol";
import { expect, it } from "vitest";
import { rowsOfBatch } from "../src/batch/report.ts";
import { importBatch } from "../src/batch/import.ts";
import { readSettlement } from "../src/history/settlement.ts";
import { findPause, pauseSends, resumeSends } from "../src/pause/pause.ts";
import { startServer } from "./support/server.ts";

const { connected, workflow } = await startServer();

/** Something else under an id of the project, as whoever reaches Temporal can start it. */
const plant = (workflowId: string, type = "payout") =>
  workflow.start(type, {
    workflowId,
    taskQueue: "payments",
    args: [{ step: "createPayout", by: "Eve", reason: "none" }],
    memo: { by: "Eve", why: "none" },
  });

it("a settlement is only one of its own type", () =>
  connected(async (temporal) => {
    const planted = await plant(settlementId("run-1", "createPayout"));
    expect(await readSettlement(temporal, "run-1", "createPayout")).toBeUndefined();
    await planted.terminate();
    const kept = await workflow.start("settlement", {
      workflowId: planted.workflowId,
      taskQueue: settlementQueue("payments"),
      args: [{ step: "createPayout", by: "Ada", reason: "it is in the portal" }],
    });
    expect(await readSettlement(temporal, "run-1", "createPayout")).toMatchObject({ by: "Ada" });
    await kept.terminate();
  }));

it("a pause is only one of its own type, and nothing else is ended with it", () =>
  connected(async (temporal) => {
    const planted = await plant(pauseId("payments"));
    expect(await findPause(temporal)).toBeUndefined();
    await expect(pauseSends(temporal, { by: "Ada", why: "a bad file" })).rejects.toMatchObject({
      _tag: "Refused",
      message: expect.stringMatching(/^Sends are not paused/) as unknown,
    });
    expect(await resumeSends(temporal, "Ada")).toBeUndefined();
    expect((await planted.describe()).status.name).toBe("RUNNING");
    await planted.terminate();
    const pause = { by: "Ada", why: "a bad file" };
    expect(await pauseSends(temporal, pause)).toMatchObject({ wasPaused: false, pause });
    expect(await pauseSends(temporal, { ...pause, by: "Bob" })).toMatchObject({
      wasPaused: true,
      pause,
    });
    expect(await resumeSends(temporal, "Bob")).toMatchObject(pause);
    expect(await resumeSends(temporal, "Bob")).toBeUndefined();
  }));

it("a pause whose memo does not decode pauses, and is resumed", () =>
  connected(async (temporal) => {
    const unreadable = { metadata: { encoding: Buffer.from("binary/encrypted") } };
    await temporal.client.workflowService.startWorkflowExecution({
      namespace: temporal.client.options.namespace,
      requestId: "planted",
      workflowId: pauseId("payments"),
      workflowType: { name: PAUSE_TYPE },
      taskQueue: { name: "payments" },
      memo: { fields: { by: unreadable, why: {} } },
    });
    expect(await findPause(temporal)).toMatchObject({ by: "unknown", why: "unknown" });
    expect(await resumeSends(temporal, "Ada")).toMatchObject({ by: "unknown" });
    expect(await findPause(temporal)).toBeUndefined();
  }));

it("a batch is only one of its own type", () =>
  connected(async (temporal) => {
    const chunks = ["hash"];
    const content = createHash("sha256").update(chunks.join()).digest("hex");
    const planted = await plant(batchId(content.slice(0, 32)));
    const nothing = () => undefined;
    const asked = importBatch(
      temporal,
      { file: "none.csv", batch: planted.workflowId, rows: 1, totals: {}, chunks },
      {
        startedBy: "Ada",
        approveAbove: undefined,
        window: undefined,
        overrule: undefined,
        journal: { clientId: undefined, journal: undefined },
      },
      { onRows: nothing, onFound: nothing, onChunk: nothing, onWritten: nothing },
    );
    await expect(asked).rejects.toMatchObject({
      _tag: "Refused",
      message: `${planted.workflowId} is a run of payout, and no batch. Nothing was started.`,
    });
    await planted.terminate();
  }));

it("the rows of a batch are those that it was started for, and no others", () =>
  connected(async (temporal) => {
    const batch = batchId("0123456789abcdef");
    const rows = [{ row: 2, key: "a" }];
    const chunk = await workflow.start("payoutBatchChunk", {
      workflowId: chunkId(batch, 1),
      taskQueue: "payments",
      args: [rows],
    });
    const hashes = [hashOfRows(rows.map((row) => canonicalJson(row)))];
    const run = await workflow.start("payoutBatch", {
      workflowId: batch,
      taskQueue: "payments",
      args: [{ chunks: 1, rows: 1, totals: {}, hashes }],
      memo: { startedBy: "Ada", rows: 1, chunks: 1, totals: {} },
    });
    const read = async () => {
      const all: Array<unknown> = [];
      for await (const part of rowsOfBatch(temporal, batch)) all.push(...part);
      return all;
    };
    expect(await read()).toEqual(rows);
    await chunk.terminate();
    const planted = await workflow.start("payoutBatchChunk", {
      workflowId: chunkId(batch, 1),
      taskQueue: "payments",
      args: [[{ row: 2, key: "b" }]],
    });
    await expect(read()).rejects.toMatchObject({
      _tag: "Refused",
      message: expect.stringContaining("somebody has replaced it") as unknown,
    });
    await Promise.all([planted.terminate(), run.terminate()]);
  }));
