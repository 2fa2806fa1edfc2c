import { progressQuery } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from "@temporalio/client";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { payout } from "../src/index.ts";
import { payTwoSuppliers } from "./examples/pay-two-suppliers.ts";
import { decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { keysOfSteps } from "./support/keys-of-steps.ts";
import { payTwiceAlike } from "./support/pay-twice-alike.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { WITHIN, untilAsked, untilStage } from "./support/until.ts";

const rig = useRig(localRig);

describe("a step's key", () => {
  it("is the workflow id's and the step's, of 36 characters, in every run", async () => {
    await withWorker(rig, {}, async ({ start }) => {
      const workflowId = `payroll/${randomUUID()}`;
      const steps = ["createPayout", "createPayout", "issueCard", "createPayout#1"];
      const keys = await (await start(keysOfSteps, [steps], workflowId)).result();
      const [first, same, ...others] = keys;
      expect(first).toHaveLength(36);
      expect(same).toBe(first);
      expect(new Set([first, ...others]).size).toBe(3);
      // A new run of the same workflow id.
      expect(await (await start(keysOfSteps, [steps], workflowId)).result()).toEqual(keys);
      const elsewhere = await (await start(keysOfSteps, [steps], `${workflowId}2`)).result();
      expect(elsewhere.filter((key) => keys.includes(key))).toEqual([]);
    });
  });

  it("never changes: those of payments under way would be lost", async () => {
    await withWorker(rig, {}, async ({ start }) => {
      const keys = await (await start(keysOfSteps, [["createPayout"]], "invoice-1")).result();
      expect(keys).toEqual(["e5556ebc-57f4-50da-987d-46c956f31df8"]);
    });
  });
});

describe("while a payout is awaited", () => {
  const service = useService();

  it("a second run of its id is rejected", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const workflowId = `invoice/${randomUUID()}`;
      const handle = await start(payout, [payoutInput], workflowId);
      await untilStage(handle, "awaitPayout");
      await expect(start(payout, [payoutInput], workflowId)).rejects.toBeInstanceOf(
        WorkflowExecutionAlreadyStartedError,
      );
      await handle.terminate();
    });
    expect((await service.simulator.state()).payouts).toHaveLength(1);
  });

  it("the end of the time allowed is no failure", async () => {
    const options = {
      completeWithin: "2 seconds",
      pollInterval: { min: "300 milliseconds" },
    } as const;
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [{ ...payoutInput, options }]);
      expect(await handle.result()).toMatchObject({
        payout_status: "processing",
        complete_time: null,
      });
    });
  });

  it("a cancellation does not wait for the next poll", async () => {
    const options = { pollInterval: { min: "1 hour", max: "1 hour" } } as const;
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [{ ...payoutInput, options }]);
      await untilStage(handle, "awaitPayout");
      await handle.cancel();
      await expect(handle.result()).rejects.toThrow("cancelled");
    });
  });

  it("a cancellation during a poll that sees nothing is one all the same", async () => {
    const polls = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const awaitPayoutEnd = async (): Promise<never> => {
      polls.resolve();
      await cancelled.promise;
      throw ApplicationFailure.create({ type: "NotYet", message: "The payout is processing." });
    };
    await withWorker(rig, { ...service.activities, awaitPayoutEnd }, async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await polls.promise;
      await handle.cancel();
      // The poll has not received it, and must not end before the server has.
      await vi.waitFor(
        async () => {
          const { events } = await handle.fetchHistory();
          const types = events?.flatMap((event) =>
            event.activityTaskCancelRequestedEventAttributes ? [event] : [],
          );
          expect(types).toHaveLength(1);
        },
        { timeout: 120_000, interval: 50 },
      );
      cancelled.resolve();
      const failure: unknown = await handle.result().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WorkflowFailedError);
      expect((failure as WorkflowFailedError).cause).toBeInstanceOf(CancelledFailure);
    });
  });

  it("a reset pays nobody a second time", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payout, [payoutInput]);
      await untilStage(handle, "awaitPayout");
      const { events } = await handle.fetchHistory();
      const first = events?.find(({ workflowTaskCompletedEventAttributes }) =>
        Boolean(workflowTaskCompletedEventAttributes),
      );
      const { client } = rig.environment;
      await client.workflowService.resetWorkflowExecution({
        namespace: "default",
        requestId: randomUUID(),
        reason: "as an operator would",
        workflowExecution: { workflowId: handle.workflowId, runId: handle.firstExecutionRunId },
        workflowTaskFinishEventId: first!.eventId!,
      });
      const again = client.workflow.getHandle(handle.workflowId);
      expect((await again.describe()).runId).not.toBe(handle.firstExecutionRunId);
      await untilStage(again, "awaitPayout");
      const { payouts } = await service.simulator.state();
      expect(payouts).toHaveLength(1);
      expect((await again.query(progressQuery)).ids["payout_id"]).toBe(payouts[0]?.payout_id);
      expect(await service.requests("createPayout")).toBe(1);
      await again.terminate();
    });
  });
});

describe("a workflow of one's own", () => {
  const service = useService({ settleAfter: 0 });
  let beneficiary_id: string;
  beforeEach(async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      await (await start(payout, [payoutInput])).result();
    });
    const { beneficiaries } = await service.simulator.state();
    beneficiary_id = beneficiaries[0]!.beneficiary_id;
  });

  it("pays two suppliers, one after the other", async () => {
    const first = { ...payoutInput.payout, beneficiary_id };
    const second = { ...first, amount: "75.00" };
    await withWorker(rig, service.activities, async ({ start }) => {
      const handle = await start(payTwoSuppliers, [first, second]);
      expect(await handle.result()).toEqual({ first: "completed", second: "completed" });
      const { steps } = await handle.query(progressQuery);
      expect(steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
        "checkRequests done",
        "awaitFunds done",
        "payTheFirst done",
        "awaitPayout done",
        "awaitFunds (2) done",
        "payTheSecond done",
        "awaitPayout (2) done",
      ]);
    });
    const { payouts } = await service.simulator.state();
    expect(payouts.map(({ amount }) => amount)).toEqual(["250.00", "250.00", "75.00"]);
    expect(new Set(payouts.map(({ unique_request_id }) => unique_request_id)).size).toBe(3);
  });

  it("cannot send two payouts under one key", async () => {
    const input = { ...payoutInput.payout, beneficiary_id };
    await withWorker(rig, service.activities, async ({ start }) => {
      const failure = await failureOf((await start(payTwiceAlike, [input, input])).result());
      expect(failure).toMatchObject({ type: "DuplicateStep", nonRetryable: true });
      expect(failure.message).toContain("give the second one another name");
    });
    expect((await service.simulator.state()).payouts).toHaveLength(2);
  });
});

describe("two runs that pay the same, where the service shows no keys,", () => {
  const service = useService(
    { settleAfter: 0, echoPayoutKey: false },
    { requestTimeoutMs: 1_000, assumptions: { listLagSeconds: 0, visibilityLagSeconds: 1 } },
  );

  const { beneficiary: _, ...withoutBeneficiary } = payoutInput;
  const sameBeneficiary = async () => {
    const { beneficiaries } = await service.simulator.state();
    return { ...withoutBeneficiary, beneficiary_id: beneficiaries[0]!.beneficiary_id };
  };

  it("never take each other's payout for theirs", async () => {
    await withWorker(rig, service.activities, async ({ start }) => {
      const first = await (await start(payout, [payoutInput])).result();
      await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
      const second = await (await start(payout, [await sameBeneficiary()])).result();
      expect(second.payout_id).not.toBe(first.payout_id);
    });
    expect((await service.simulator.state()).payouts).toHaveLength(2);
  });

  it("ask a person when both got no answer, and can be found by that", async () => {
    await withWorker(rig, service.activities, async ({ start, taskQueue }) => {
      await (await start(payout, [payoutInput])).result();
      const input = await sameBeneficiary();
      // One is carried out and one is not, and nobody can know which.
      await service.simulator.addFault({ kind: "dropped", operation: "createPayout" });
      await service.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
      const runs = [
        await start(payout, [input]),
        // The same amount, written another way.
        await start(payout, [{ ...input, payout: { ...input.payout, amount: "250" } }]),
      ];
      for (const run of runs) await untilStage(run, "needsAttention");
      const found: Array<string> = [];
      await vi.waitFor(async () => {
        found.length = 0;
        const query = `PaymentStage = "needsAttention" AND TaskQueue = "${taskQueue}"`;
        for await (const { workflowId } of rig.environment.client.workflow.list({ query })) {
          found.push(workflowId);
        }
        expect(found.toSorted()).toEqual(runs.map(({ workflowId }) => workflowId).toSorted());
      }, WITHIN);
      const made = (await service.simulator.state()).payouts;
      expect(made).toHaveLength(2);
      const [one, other] = runs;
      const { payout_id } = made[1]!;
      await decide(one!, { by: "Ada", found: { payout_id } });
      const first = await one!.result();
      // What one has taken is not the other's, whoever says so.
      await decide(other!, { by: "Ada", found: { payout_id } });
      await untilAsked(other!, `belongs to ${one!.workflowId}`);
      await decide(other!, { by: "Ada", resend: true });
      const results = [first, await other!.result()];
      expect(new Set(results.map((result) => result.payout_id)).size).toBe(2);
    });
    expect((await service.simulator.state()).payouts).toHaveLength(3);
  });
});
