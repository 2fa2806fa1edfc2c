import { contentOfPayout } from "@durable-payments/activities/payout-content";
import { approveUpdate, type BatchRow, chunkId, progressQuery } from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { payout, payoutBatchChunk } from "../src/index.ts";
import { batchOf, makeRows, startBatch } from "./support/batches.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { beneficiary } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { startService } from "./support/service.ts";
import { untilStage } from "./support/until.ts";

const rig = useRig(localRig);

const service = useService({ settleAfter: 0, balances: { USD: "100000.00" } });

const ledger = () => service.simulator.state();

/** The same rows, paid into another account: all that a row says of itself is true. */
const toAnotherAccount = (rows: ReadonlyArray<BatchRow>): ReadonlyArray<BatchRow> =>
  rows.map((row) => {
    const input = {
      beneficiary: { ...beneficiary, account_number: "99887766554433" },
      payout: row.input.payout,
    };
    return { ...row, input, fingerprint: contentOfPayout(input) };
  });

/** What whoever reaches Temporal can start. */
const startChunk = (workflowId: string, rows: ReadonlyArray<BatchRow>) =>
  rig.environment.client.workflow.start(payoutBatchChunk, {
    workflowId,
    taskQueue: rig.queue.taskQueue,
    args: [rows],
    startDelay: "365 days",
  });

const hashOf = async (batch: WorkflowHandle): Promise<string> => {
  await untilStage(batch, "awaitApproval");
  const { approval } = (await batch.query(progressQuery)).shown;
  return (approval as { readonly hash: string }).hash;
};

/** How a batch ended, and what the service has made by then. */
const endingOf = async (batch: WorkflowHandle) => {
  const { message, type } = await failureOf(batch.result());
  const { beneficiaries, payouts } = await ledger();
  return { type, message, beneficiaries, payouts };
};

const NOBODY_PAID = {
  type: "ChunkChanged",
  message: expect.stringContaining("None of the rows of this chunk was started.") as unknown,
  beneficiaries: [],
  payouts: [],
};

describe("a batch pays nobody", () => {
  it("where a chunk was replaced after its approval was asked for", async () => {
    await withWorker(rig, service.activities, async () => {
      const rows = makeRows(3);
      const input = { totals: { USD: "6.00" }, approval: { above: "1.00" } };
      const batch = await startBatch(rig, rows, { input });
      const hash = await hashOf(batch);
      const id = chunkId(batch.workflowId, 1);
      await rig.environment.client.workflow.getHandle(id).terminate("swapped");
      await startChunk(id, toAnotherAccount(rows));
      await batch.executeUpdate(approveUpdate, { args: [{ by: "Bob", hash, approve: true }] });
      expect(await endingOf(batch)).toEqual(NOBODY_PAID);
    });
  });

  it("where something else was planted as its chunk before it was written", async () => {
    await withWorker(rig, service.activities, async () => {
      const rows = makeRows(3);
      await startChunk(chunkId(batchOf(rows), 1), toAnotherAccount(rows));
      expect(await endingOf(await startBatch(rig, rows))).toEqual(NOBODY_PAID);
    });
  });

  it("where it was started for other chunks than its id names, or for none", async () => {
    await withWorker(rig, service.activities, async () => {
      const [rows, others] = [makeRows(1), makeRows(1)];
      expect(await endingOf(await startBatch(rig, others, { workflowId: batchOf(rows) }))).toEqual(
        NOBODY_PAID,
      );
      expect(await endingOf(await startBatch(rig, makeRows(1), { input: { hashes: [] } }))).toEqual(
        NOBODY_PAID,
      );
    });
  });

  it.each<[string, (row: BatchRow, other: BatchRow) => BatchRow]>([
    ["fingerprint", (row, other) => ({ ...row, fingerprint: other.fingerprint })],
    ["workflow id", (row, other) => ({ ...row, workflowId: other.workflowId })],
    ["currency", (row) => ({ ...row, currency: "EUR" })],
  ])("where the %s of a row is not that of its content", async (_, change) => {
    await withWorker(rig, service.activities, async () => {
      const [row, other] = makeRows(2);
      expect(await endingOf(await startBatch(rig, [change(row!, other!), other!]))).toEqual(
        NOBODY_PAID,
      );
    });
  });

  it.each([
    ["rows of an account with a name", "eu", undefined],
    ["a batch of an account with rows of none", undefined, "eu"],
    ["rows of an account and a batch of another", "us", "eu"],
  ])("where it has %s", async (_, ofRows, ofBatch) => {
    const own = await startService(
      {},
      {},
      {
        readPause: async () => undefined,
        ...(ofBatch !== undefined && { account: ofBatch }),
      },
    );
    onTestFinished(() => own.stop());
    await withWorker(rig, own.activities, async () => {
      const rows = makeRows(2).map((row) => {
        const input = { ...row.input, ...(ofRows !== undefined && { account: ofRows }) };
        return { ...row, input, fingerprint: contentOfPayout(input) };
      });
      const input = ofBatch === undefined ? {} : { account: ofBatch };
      expect(await endingOf(await startBatch(rig, rows, { input }))).toEqual(NOBODY_PAID);
      expect((await own.simulator.state()).payouts).toEqual([]);
    });
  });

  it("where the name of its account has come to be that of another one", async () => {
    const named = { readPause: async () => undefined, account: "eu" };
    const [own, other] = await Promise.all([
      startService({}, {}, named),
      startService({ clientId: "other", apiKey: "other-key" }, {}, named),
    ]);
    onTestFinished(async () => {
      await Promise.all([own.stop(), other.stop()]);
    });
    const { readAccount } = own.activities;
    await withWorker(rig, { ...other.activities, readAccount }, async () => {
      const rows = makeRows(2).map((row) => {
        const input = { ...row.input, account: "eu" };
        return { ...row, input, fingerprint: contentOfPayout(input) };
      });
      const batch = await startBatch(rig, rows, { input: { account: "eu" } });
      await vi.waitFor(
        async () => {
          const [pending] = (await batch.describe()).raw.pendingActivities ?? [];
          expect(pending?.lastFailure?.applicationFailureInfo?.type).toBe("OtherAccount");
        },
        { timeout: 120_000, interval: 100 },
      );
      expect((await other.simulator.state()).payouts).toEqual([]);
      await batch.terminate();
    });
  });

  it("where a row of a negative amount keeps the total of the others below a limit", async () => {
    await withWorker(rig, service.activities, async () => {
      const rows = makeRows(2, (index) => (index === 0 ? "90.00" : "-80.00"));
      expect(await endingOf(await startBatch(rig, rows))).toEqual({
        ...NOBODY_PAID,
        message: expect.stringContaining("its amount is not above zero") as unknown,
      });
    });
  });
});

it("a run that was planted under the id of a row conflicts, whatever its memo says", async () => {
  await withWorker(rig, service.activities, async () => {
    const rows = makeRows(2);
    const [row] = rows;
    const [planted] = toAnotherAccount([{ ...row!, input: { ...row!.input } }]);
    const memo = { startedBy: "Ada", fingerprint: row!.fingerprint, row: row!.row };
    await rig.environment.client.workflow.execute(payout, {
      workflowId: row!.workflowId,
      taskQueue: rig.queue.taskQueue,
      args: [planted!.input],
      memo,
    });
    const result = await (await startBatch(rig, rows)).result();
    expect(result).toMatchObject({ rows: 2, started: 1, known: 0, conflicting: 1 });
  });
});
