import { type ApprovalRequest, approveUpdate, progressQuery } from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { decide } from "./support/decide.ts";
import { useRig, useServiceWithLimit } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { type ApprovedPayments, payApproved } from "./support/pay-approved.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilAsked, WITHIN } from "./support/until.ts";

const rig = useRig(localRig);

const service = useServiceWithLimit({ settleAfter: 0, balances: { USD: "100000.00" } });

const start = async (
  approved: number,
  steps: ApprovedPayments["steps"],
): Promise<WorkflowHandle<typeof payApproved>> => {
  const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
  const payment = { ...payoutInput.payout, beneficiary_id, amount: "100.01" };
  return rig.environment.client.workflow.start(payApproved, {
    args: [{ payment, approved, steps }],
    taskQueue: rig.queue.taskQueue,
    workflowId: randomUUID(),
    memo: { startedBy: "Ada" },
  });
};

/** Approves what a run asks about, where that is something else than before. */
const approve = async (handle: WorkflowHandle, before?: ApprovalRequest) => {
  const request = await vi.waitFor(async () => {
    const { shown } = await handle.query(progressQuery);
    expect(shown["approval"]).toBeDefined();
    // As the step shows it.
    const asked = shown["approval"] as ApprovalRequest;
    expect(asked.hash).not.toBe(before?.hash);
    return asked;
  }, WITHIN);
  const made = await paid();
  await handle.executeUpdate(approveUpdate, {
    args: [{ by: "Bob", hash: request.hash, approve: true }],
  });
  return { request, made };
};

const paid = async () => (await service.simulator.state()).payouts.length;

describe("an approval covers each of its requests once", () => {
  it.each([
    ["one after the other", [["payFirst"], ["paySecond"]]],
    ["at once", [["payFirst", "paySecond"]]],
  ])("another payment of the same asks for an approval of its own: %s", (_, steps) =>
    withWorker(rig, service.activities, async () => {
      const handle = await start(1, steps);
      const first = await approve(handle);
      const second = await approve(handle, first.request);
      expect([first.made, second.made]).toEqual([0, 1]);
      expect(second.request.why).toBe(
        "above 100.00 USD (PAYMENTS_APPROVE_ABOVE), and the approval of such a payment was used by payFirst",
      );
      expect(await handle.result()).toBe(2);
      expect(await paid()).toBe(2);
    }),
  );

  it("so a list that has it twice covers two", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await start(2, [["payFirst", "paySecond"], ["payThird"]]);
      const first = await approve(handle);
      const second = await approve(handle, first.request);
      expect([first.made, second.made]).toEqual([0, 2]);
      expect(await handle.result()).toBe(3);
    }));

  it("the step that has used it keeps it, where it is sent again", () =>
    withWorker(rig, service.activities, async () => {
      await service.simulator.addFault({ kind: "rate-limited", operation: "createPayout" });
      const handle = await start(1, [["payFirst"]]);
      await approve(handle);
      expect(await handle.result()).toBe(1);
      expect(await paid()).toBe(1);
      expect(await service.simulator.faults()).toMatchObject([{ fired: 1 }]);
    }));

  it("what a person has sent again uses up no approval of another step", async () => {
    const { createPayout } = service.activities;
    let isLost = true;
    const activities: typeof service.activities = {
      ...service.activities,
      createPayout: async (...input) => {
        const made = await createPayout(...input);
        if (!isLost || input[1]?.step !== "payFirst") return made;
        isLost = false;
        throw ApplicationFailure.nonRetryable("the answer was lost", "AnswerContradicts");
      },
    };
    await withWorker(rig, activities, async () => {
      const handle = await start(2, [["payFirst", "paySecond"]]);
      const first = await approve(handle);
      await untilAsked(handle);
      await vi.waitFor(async () => expect(await paid()).toBe(2), WITHIN);
      await decide(handle, { by: "Olga", resend: true });
      const again = await approve(handle, first.request);
      expect(again.made).toBe(2);
      expect(again.request.resentBy).toEqual(["Olga"]);
    });
  });
});
