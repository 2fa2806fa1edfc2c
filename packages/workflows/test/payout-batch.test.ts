import type { PaymentsActivities } from "@durable-payments/activities";
import { contentOfPayout } from "@durable-payments/activities/payout-content";
import {
  approveUpdate,
  batchProgressQuery,
  cancelBatchUpdate,
  pauseBatchUpdate,
  progressQuery,
  resumeBatchUpdate,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { Gate, makeRows, startBatch } from "./support/batches.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilStage } from "./support/until.ts";

// A hundred runs on a busy machine take their time.

const rig = useRig(localRig);

const service = useService({ settleAfter: 0, balances: { USD: "100000.00" } });

const POLLING = { timeout: 120_000, interval: 50 };

const payouts = async () => (await service.simulator.state()).payouts;

const progressOf = (handle: WorkflowHandle) => handle.query(batchProgressQuery);

/** Activities whose payouts are created when the gate lets them go. */
const gated = (gate: Gate): PaymentsActivities => ({
  ...service.activities,
  createPayout: async (input) => {
    const heart = setInterval(() => Context.current().heartbeat(), 1_000);
    await gate.pass();
    clearInterval(heart);
    return service.activities.createPayout(input);
  },
});

const statusOf = async (workflowId: string): Promise<string> =>
  (await rig.environment.client.workflow.getHandle(workflowId).describe()).status.name;

describe("a batch", () => {
  it("pays each row once, and closes its chunks", async () => {
    await withWorker(rig, service.activities, async () => {
      const rows = makeRows(25);
      const batch = await startBatch(rig, rows);
      expect(await batch.result()).toEqual({
        rows: 25,
        started: 25,
        known: 0,
        conflicting: 0,
        notStarted: 0,
        completed: 25,
        failed: 0,
        cancelled: 0,
        terminated: 0,
        timedOut: 0,
        unfinished: 0,
      });
      expect(await statusOf(`${batch.workflowId}/chunk/3`)).toBe("TERMINATED");
      const run = await rig.environment.client.workflow.getHandle(rows[7]!.workflowId).describe();
      expect(run.memo).toEqual({
        startedBy: "Ada",
        fingerprint: rows[7]!.fingerprint,
        row: 9,
        payment: { amount: "8.00", currency: "USD", payee: payoutInput.beneficiary.nickname },
      });
    });
    expect((await payouts()).map(({ amount }) => Number(amount)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
  });

  it("does not call complete what was open still at the end of its time", async () => {
    const open: Partial<PaymentsActivities> = {
      ...service.activities,
      awaitPayoutEnd: async (awaited) => {
        const payout = await service.client.retrievePayout({ payout_id: awaited.payout_id });
        return payout.amount === "2.00"
          ? { outcome: "open", payout: { ...payout, payout_status: "processing" } }
          : service.activities.awaitPayoutEnd(awaited);
      },
    };
    await withWorker(rig, open, async () => {
      const batch = await startBatch(rig, makeRows(3));
      expect(await batch.result()).toMatchObject({ completed: 2, unfinished: 1, failed: 0 });
    });
  });

  it("sends no more than its window at a time, and fills it", async () => {
    const gate = new Gate();
    await withWorker(rig, gated(gate), async () => {
      const batch = await startBatch(rig, makeRows(12), { input: { window: 3 }, chunkSize: 5 });
      for (let left = 12; left > 0; left -= 1) {
        await gate.whenHeld(Math.min(3, left));
        gate.letOneGo();
      }
      expect(await batch.result()).toMatchObject({ completed: 12 });
    });
    expect(gate.most).toBe(3);
  });

  it("gets the slot back of a run that fails, asks, or is terminated", async () => {
    const gate = new Gate();
    const refusedTwice = { kind: "refusal-in-200", operation: "createPayout", times: 2 } as const;
    await withWorker(rig, gated(gate), async () => {
      const rows = makeRows(6).map((row, index) =>
        index === 1
          ? { ...row, input: { ...row.input, options: { onRefusal: "ask" as const } } }
          : row,
      );
      const batch = await startBatch(rig, rows, { input: { window: 1 } });
      await service.simulator.addFault(refusedTwice);
      // Fails, then asks, then is terminated while it sends.
      await gate.whenHeld(1);
      gate.letOneGo();
      await gate.whenHeld(1);
      gate.letOneGo();
      await gate.whenHeld(1);
      await rig.environment.client.workflow.getHandle(rows[2]!.workflowId).terminate("by hand");
      await gate.whenHeld(2);
      gate.open();
      const asking = rig.environment.client.workflow.getHandle(rows[1]!.workflowId);
      await vi.waitFor(
        async () => expect(await progressOf(batch)).toMatchObject({ started: 6 }),
        POLLING,
      );
      await decide(asking, { by: "Ada", resend: true });
      expect(await batch.result()).toMatchObject({ completed: 4, failed: 1, terminated: 1 });
    });
  });

  it("handles rows again where a worker was lost, and pays them once", async () => {
    let attempts = 0;
    const lossy: PaymentsActivities = {
      ...service.activities,
      startPayoutRuns: async (chunk) => {
        const started = await service.activities.startPayoutRuns(chunk);
        attempts += 1;
        if (attempts === 1) throw ApplicationFailure.retryable("the worker was lost");
        return started;
      },
    };
    await withWorker(rig, lossy, async () => {
      const batch = await startBatch(rig, makeRows(15), { chunkSize: 15 });
      expect(await batch.result()).toMatchObject({ started: 15, known: 0, completed: 15 });
    });
    expect(attempts).toBe(2);
    expect(await payouts()).toHaveLength(15);
  });

  it("distinguishes rows that another file paid from those whose key paid something else", async () => {
    await withWorker(rig, service.activities, async () => {
      const prefix = randomUUID();
      const rows = makeRows(10, undefined, prefix);
      await (await startBatch(rig, rows)).result();
      const changed = makeRows(12, (index) => (index === 3 ? "99.00" : undefined), prefix);
      expect(await (await startBatch(rig, changed)).result()).toMatchObject({
        rows: 12,
        started: 2,
        known: 9,
        conflicting: 1,
        completed: 2,
      });
    });
    expect(await payouts()).toHaveLength(12);
  });

  it("continues as new with a bounded history", async () => {
    await withWorker(rig, service.activities, async () => {
      // The shortest of payouts: this is about the run of their batch.
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const rows = makeRows(102).map(({ input: { payout }, ...row }) => {
        const input = { beneficiary_id, payout };
        return { ...row, fingerprint: contentOfPayout(input), input };
      });
      const batch = await startBatch(rig, rows, { chunkSize: 1 });
      expect(await batch.result()).toMatchObject({ started: 102, completed: 102 });
      const { client } = rig.environment;
      const first = await client.workflow
        .getHandle(batch.workflowId, batch.firstExecutionRunId)
        .describe();
      expect(first.status.name).toBe("CONTINUED_AS_NEW");
      expect(first.historyLength).toBeLessThan(1_000);
    });
  });

  it("ends with what to do where a chunk is gone", async () => {
    await withWorker(rig, service.activities, async () => {
      const rows = makeRows(1);
      const batch = await startBatch(rig, rows, { input: { chunks: 2 } });
      const failure = await failureOf(batch.result());
      // Its run goes on; the next test begins when it has ended.
      await rig.environment.client.workflow.getHandle(rows[0]!.workflowId).result();
      expect(failure).toMatchObject({ type: "ChunkMissing" });
      expect(failure.message).toContain("import the file once more");
    });
  });
});

describe("orders", () => {
  it("pause, resume and cancel it", async () => {
    const gate = new Gate();
    await withWorker(rig, gated(gate), async () => {
      const batch = await startBatch(rig, makeRows(10), { input: { window: 2 }, chunkSize: 4 });
      await gate.whenHeld(2);
      await batch.executeUpdate(pauseBatchUpdate, { args: [{ by: "Bob", why: "a bad file" }] });
      await expect(
        batch.executeUpdate(pauseBatchUpdate, { args: [{ by: "Eve" }] }),
      ).rejects.toMatchObject({ cause: { message: "It is paused already, by Bob." } });
      // It takes hold with a heartbeat: until then the slots are taken.
      await vi.waitFor(
        async () =>
          expect(await progressOf(batch)).toMatchObject({
            done: 2,
            paused: { by: "Bob", why: "a bad file" },
          }),
        POLLING,
      );
      gate.letOneGo();
      gate.letOneGo();
      await vi.waitFor(async () => expect(await payouts()).toHaveLength(2), POLLING);
      expect(gate.held).toBe(0);
      await batch.executeUpdate(resumeBatchUpdate, { args: [{ by: "Bob" }] });
      await gate.whenHeld(2);
      await batch.executeUpdate(cancelBatchUpdate, { args: [{ by: "Bob" }] });
      await untilStage(batch, "awaitPayouts");
      // Those that were started go on.
      gate.open();
      const result = await batch.result();
      expect(result).toMatchObject({ started: 4, completed: 4, notStarted: 6 });
      expect(await statusOf(`${batch.workflowId}/chunk/3`)).toBe("TERMINATED");
      await expect(
        batch.executeUpdate(resumeBatchUpdate, { args: [{ by: "Bob" }] }),
      ).rejects.toThrow("already completed");
    });
    expect(await payouts()).toHaveLength(4);
  });

  it("of Temporal itself end it, and let the runs go on", async () => {
    const gate = new Gate();
    await withWorker(rig, gated(gate), async () => {
      const rows = makeRows(3);
      const batch = await startBatch(rig, rows, { input: { window: 1 } });
      await gate.whenHeld(1);
      await batch.cancel();
      await expect(batch.result()).rejects.toThrow("cancelled");
      expect(await statusOf(`${batch.workflowId}/chunk/1`)).toBe("TERMINATED");
      gate.open();
      await rig.environment.client.workflow.getHandle(rows[0]!.workflowId).result();
    });
    expect(await payouts()).toHaveLength(1);
  });

  it("must say who gives them", async () => {
    const gate = new Gate();
    await withWorker(rig, gated(gate), async () => {
      const batch = await startBatch(rig, makeRows(2), { input: { window: 1 } });
      await gate.whenHeld(1);
      await expect(
        batch.executeUpdate(cancelBatchUpdate, { args: [{ by: " " }] }),
      ).rejects.toMatchObject({ cause: { message: "Give the name of who commands it (by)." } });
      gate.open();
      await batch.result();
    });
  });
});

describe("a total above the limit", () => {
  const input = { totals: { EUR: "9.00", USD: "10.01" }, approval: { above: "10.00" } };

  const approvalOf = async (batch: WorkflowHandle) => {
    await untilStage(batch, "awaitApproval");
    return (await batch.query(progressQuery)).shown["approval"];
  };

  it("waits for a second person before any row is started", async () => {
    await withWorker(rig, service.activities, async () => {
      const batch = await startBatch(rig, makeRows(3), { input });
      const approval = await approvalOf(batch);
      expect(approval).toMatchObject({
        startedBy: "Ada",
        payment: { rows: 3, EUR: "9.00", USD: "10.01" },
      });
      expect(await payouts()).toEqual([]);
      const { hash } = approval as { readonly hash: string };
      const approve = (by: string) =>
        batch.executeUpdate(approveUpdate, { args: [{ by, hash, approve: true }] });
      await expect(approve("Ada")).rejects.toMatchObject({ cause: { type: "InvalidApproval" } });
      await approve("Bob");
      expect(await batch.result()).toMatchObject({ completed: 3 });
    });
  });

  it("that is rejected, or cancelled, pays nobody and closes its chunks", async () => {
    await withWorker(rig, service.activities, async () => {
      const rejected = await startBatch(rig, makeRows(3), { input });
      const { hash } = (await approvalOf(rejected)) as { readonly hash: string };
      const rejection = { by: "Bob", hash, reject: "too much" };
      await rejected.executeUpdate(approveUpdate, { args: [rejection] });
      expect(await failureOf(rejected.result())).toMatchObject({ type: "Rejected" });
      const cancelled = await startBatch(rig, makeRows(3), { input });
      await approvalOf(cancelled);
      await cancelled.executeUpdate(cancelBatchUpdate, { args: [{ by: "Bob" }] });
      expect(await cancelled.result()).toMatchObject({ started: 0, notStarted: 3 });
      for (const { workflowId } of [rejected, cancelled]) {
        expect(await statusOf(`${workflowId}/chunk/1`)).toBe("TERMINATED");
      }
    });
    expect(await payouts()).toEqual([]);
  });

  it("is not asked about below it", async () => {
    await withWorker(rig, service.activities, async () => {
      const below = { ...input, totals: { USD: "10.00" } };
      const batch = await startBatch(rig, makeRows(1), { input: below });
      expect(await batch.result()).toMatchObject({ completed: 1 });
    });
  });
});
