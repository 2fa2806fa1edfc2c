import {
  batchOfChunks,
  canonicalJson,
  hashOfRows,
} from "@durable-payments/activities/payout-content";
import type { ChunkToStart } from "@durable-payments/activities";
import {
  approveUpdate,
  auditQuery,
  type ApprovalRequest,
  type BatchPosition,
  type BatchRow,
  chunkId,
  progressQuery,
  serviceQueue,
} from "@durable-payments/protocol";
import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { Worker } from "@temporalio/worker";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, inject, it, vi } from "vitest";
import { payout, payoutBatchChunk } from "../src/index.ts";
import { makeRows, startBatch } from "./support/batches.ts";
import { continueAsBatch, schedule } from "./support/forging.ts";
import { useRig, useServiceWithLimit } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilStage, WITHIN } from "./support/until.ts";

const rig = useRig(localRig);

const service = useServiceWithLimit({ settleAfter: 0, balances: { USD: "1000000.00" } });

const paid = async () => (await service.simulator.state()).payouts;

/** Runs `use` while somebody who reaches Temporal, and has no API key, has a worker on this queue. */
const withOtherWorker = async <A>(
  taskQueue: string,
  use: (taskQueue: string) => Promise<A>,
): Promise<A> => {
  const worker = await Worker.create({
    connection: rig.environment.nativeConnection,
    namespace: rig.environment.namespace ?? "default",
    taskQueue,
    workflowBundle: { code: readFileSync(inject("workflowBundle"), "utf8") },
    workflowThreadPoolSize: 1,
  });
  return await worker.runUntil(use(taskQueue));
};

const workflowOf = (workflowId: string): WorkflowHandle =>
  rig.environment.client.workflow.getHandle(workflowId);

/** What an activity of our workers fails with that somebody else's workflow has scheduled. */
const scheduled = async (
  { own, workflowId = randomUUID() }: { readonly own: string; readonly workflowId?: string },
  taskQueue: string,
  activity: string,
  ...input: ReadonlyArray<unknown>
): Promise<ApplicationFailure> => {
  const running = rig.environment.client.workflow.execute(schedule, {
    workflowId,
    taskQueue: own,
    args: [taskQueue, activity, ...input],
  });
  const error: unknown = await running.then(
    (value) => new Error(`It did not fail, but gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  const cause = error instanceof WorkflowFailedError ? error.cause?.cause : undefined;
  if (cause instanceof ApplicationFailure) return cause;
  throw error;
};

const request = {
  ...payoutInput.payout,
  amount: "77777.00",
  beneficiary_id: randomUUID(),
  unique_request_id: randomUUID(),
};
const BY_BOB = { step: "createPayout", number: 1, approvedBy: "Bob" } as const;

const POSITION: BatchPosition = {
  chunk: 1,
  skip: 0,
  done: 0,
  started: 0,
  known: 0,
  conflicting: 0,
};

const inOneChunk = (rows: ReadonlyArray<BatchRow>) => {
  const hashes = [hashOfRows(rows.map((row) => canonicalJson(row)))];
  return { hashes, batch: batchOfChunks(hashes) };
};

const plantChunk = (batch: string, rows: ReadonlyArray<BatchRow>) =>
  rig.environment.client.workflow.start(payoutBatchChunk, {
    workflowId: chunkId(batch, 1),
    taskQueue: rig.queue.taskQueue,
    args: [rows],
    startDelay: "365 days",
    workflowIdConflictPolicy: "USE_EXISTING",
  });

/** Starts a batch that claims to go on at this position of a run before. */
const claim = async (own: string, rows: ReadonlyArray<BatchRow>, from: object) => {
  const { batch, hashes } = inOneChunk(rows);
  await plantChunk(batch, rows);
  const input = { chunks: 1, hashes, rows: rows.length, totals: { USD: "150.00" } };
  const { queue } = rig;
  await rig.environment.client.workflow.start(continueAsBatch, {
    workflowId: batch,
    taskQueue: own,
    args: [queue.taskQueue, { ...input, from: { ...POSITION, ...from } }],
    memo: { startedBy: "Ada" },
  });
  return workflowOf(batch);
};

const pay = (beneficiary_id: string) =>
  rig.environment.client.workflow.start(payout, {
    workflowId: randomUUID(),
    taskQueue: rig.queue.taskQueue,
    args: [{ beneficiary_id, payout: { ...payoutInput.payout, amount: "150.00" } }],
    memo: { startedBy: "Ada" },
  });

const approve = async (handle: WorkflowHandle): Promise<void> => {
  const { hash } = await vi.waitFor(async () => {
    const { shown } = await handle.query(progressQuery);
    expect(shown["approval"]).toBeDefined();
    // As the step shows it.
    return shown["approval"] as ApprovalRequest;
  }, WITHIN);
  await handle.executeUpdate(approveUpdate, { args: [{ by: "Bob", hash, approve: true }] });
};

/** Waits until a run that was approved asks once more. */
const untilAskedAgain = (handle: WorkflowHandle): Promise<void> =>
  vi.waitFor(async () => {
    const audit = await handle.query(auditQuery);
    expect(audit.some(({ what }) => what === "approved")).toBe(true);
    expect((await handle.query(progressQuery)).shown["approval"]).toBeDefined();
  }, WITHIN);

/** What the latest activity of this type of a run was given. */
const inputOf = async (
  handle: WorkflowHandle,
  activity: string,
): Promise<ReadonlyArray<unknown>> => {
  const { events } = await handle.fetchHistory();
  const scheduling = events
    ?.map((event) => event.activityTaskScheduledEventAttributes)
    .findLast((attributes) => attributes?.activityType?.name === activity);
  return await decodeArrayFromPayloads(
    rig.environment.client.options.loadedDataConverter,
    scheduling?.input?.payloads,
  );
};

const withForger = (use: (own: string) => Promise<void>): Promise<void> =>
  withWorker(rig, service.activities, () => withOtherWorker(`other-${randomUUID()}`, use));

describe("who has a worker on a task queue of its own has nothing sent above the limit", () => {
  it("by a batch that claims to continue an approved one", () =>
    withForger(async (own) => {
      const rows = makeRows(1, () => "150.00");
      for (const approvals of [undefined, ["A".repeat(43)]]) {
        const batch = await claim(own, rows, { isApproved: true, payees: [[""]], approvals });
        await untilStage(batch, "awaitApproval");
        await batch.terminate();
      }
      expect(await paid()).toEqual([]);
    }));

  it("by starting the rows of a batch as approved", () =>
    withForger(async (own) => {
      const [row] = makeRows(1, () => "150.00");
      const { batch, hashes } = inOneChunk([row!]);
      await plantChunk(batch, [row!]);
      const chunk = {
        batch,
        chunk: 1,
        hash: hashes[0],
        skip: 0,
        started: 0,
        window: 1,
        overruled: [],
        totals: { USD: "150.00" },
        startedBy: "Ada",
        since: Date.now(),
        isApproved: true,
        payees: [""],
        approval: "A".repeat(43),
      };
      const failure = scheduled({ own }, rig.queue.taskQueue, "startPayoutRuns", chunk);
      expect(await failure).toMatchObject({ type: "NeedsApproval" });
      expect(await paid()).toEqual([]);
    }));

  it("by an activity that it says somebody has approved", () =>
    withForger(async (own) => {
      const to = serviceQueue(rig.queue.taskQueue);
      // The second polls our queue, too: without the API key it proves nothing.
      for (const of of [own, rig.queue.taskQueue]) {
        const failure = scheduled({ own: of }, to, "createPayout", request, BY_BOB);
        expect(await failure).toMatchObject({ type: "NeedsApproval" });
      }
      expect(await paid()).toEqual([]);
    }));

  it("by having the worker prove an approval that nobody has given", () =>
    withForger(async (own) => {
      const approved = {
        firstRunId: "x",
        requests: [{ operation: "createPayout", input: request }],
      };
      const to = rig.queue.taskQueue;
      const failures = [
        await scheduled({ own }, to, "proveApproval", approved),
        await scheduled({ own }, to, "proveBatch", { firstRunId: "x", chunks: [] }),
      ];
      expect(failures.map(({ type }) => type)).toEqual(["NotLocal", "NotLocal"]);
    }));

  it("by what proves the approval of a payout that was sent", () =>
    withForger(async (own) => {
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const handle = await pay(beneficiary_id);
      await approve(handle);
      await handle.result();
      const [sent, intent] = await inputOf(handle, "createPayout");
      expect(intent).toMatchObject({ approvedBy: "Bob", approval: expect.any(String) as unknown });
      const again = [
        { ...(sent as object), unique_request_id: randomUUID() },
        { ...(intent as object), step: "another" },
      ];
      const { workflowId } = handle;
      const to = serviceQueue(rig.queue.taskQueue);
      for (const of of [{ own, workflowId }, { own }]) {
        const failure = scheduled(of, to, "createPayout", ...again);
        expect(await failure).toMatchObject({ type: "NeedsApproval" });
      }
      expect(await paid()).toHaveLength(1);
    }));

  it("by what proves the approval of a batch that was paid", () =>
    withForger(async (own) => {
      const rows = makeRows(1, () => "150.00");
      const batch = await startBatch(rig, rows);
      await approve(batch);
      await batch.result();
      const [chunk] = await inputOf(batch, "startPayoutRuns");
      const { approval } = chunk as ChunkToStart;
      expect(approval).toEqual(expect.any(String));
      const claimed = await claim(own, rows, { approvals: [approval] });
      await untilStage(claimed, "awaitApproval");
      await claimed.terminate();
    }));
});

describe("an approval that nothing proves, as that of a run of before, is asked for anew", () => {
  it("before a payout is sent", () =>
    withWorker(rig, { ...service.activities, proveApproval: async () => [] }, async () => {
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const handle = await pay(beneficiary_id);
      await approve(handle);
      await untilAskedAgain(handle);
      expect(await paid()).toEqual([]);
      rig.activities = service.activities;
      await approve(handle);
      expect(await handle.result()).toMatchObject({ outcome: "completed" });
    }));

  it("before a row of a batch is started", () =>
    withWorker(rig, { ...service.activities, proveBatch: async () => [] }, async () => {
      const batch = await startBatch(
        rig,
        makeRows(1, () => "150.00"),
      );
      await approve(batch);
      await untilAskedAgain(batch);
      expect(await paid()).toEqual([]);
      rig.activities = service.activities;
      await approve(batch);
      expect(await batch.result()).toMatchObject({ completed: 1 });
    }));
});
