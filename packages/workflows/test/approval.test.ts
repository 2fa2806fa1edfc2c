import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  auditQuery,
  progressQuery,
  type RetryInstruction,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { WorkflowUpdateFailedError } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { describe, expect, it, vi } from "vitest";
import { payout, payoutBatch } from "../src/index.ts";
import { decide as resolve } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useService } from "./support/hooks.ts";
import { payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";

// On a real server: the one that skips time loses updates when the machine is busy.
describe("a payout above the limit of one person", () => {
  const rig = useRig(localRig);
  const service = useService({ settleAfter: 0 });

  /** Written into the reference of the payout, which everybody who is asked is shown. */
  const { iban } = payoutInput.beneficiary;
  const inItsReference = {
    ...payoutInput.payout,
    payout_reference: `to ${iban.replaceAll(/(.{4})/g, "$1.")}`,
  };

  type Handle = Awaited<ReturnType<typeof begin>>;
  const begin = (taskQueue: string, memo: Readonly<Record<string, unknown>>, above: string) =>
    rig.environment.client.workflow.start(payout, {
      args: [{ ...payoutInput, payout: inItsReference, options: { approval: { above } } }],
      taskQueue,
      workflowId: crypto.randomUUID(),
      memo: { ...memo },
    });

  const waiting = (
    use: (handle: Handle, request: ApprovalRequest) => Promise<void>,
    memo: Readonly<Record<string, unknown>> = { startedBy: "Ada" },
  ) =>
    withWorker(rig, service.activities, async ({ taskQueue }) => {
      const handle = await begin(taskQueue, memo, "249.99");
      const approval = await vi.waitFor(
        async () => {
          const { shown, stage } = await handle.query(progressQuery);
          expect(stage).toBe("awaitApproval");
          // As the step shows it.
          return shown["approval"] as ApprovalRequest;
        },
        { timeout: 120_000, interval: 50 },
      );
      await use(handle, approval);
    });

  const decide = (handle: Handle, approval: unknown) =>
    // What comes from outside may be anything.
    handle.executeUpdate(approveUpdate, { args: [approval as Approval] });

  const rejectionOf = async (handle: Handle, approval: unknown): Promise<string> => {
    const error: unknown = await decide(handle, approval).catch((thrown: unknown) => thrown);
    if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
      return error.cause.message;
    }
    throw error;
  };

  it("waits for a second person, and has sent nothing", () =>
    waiting(async (handle, request) => {
      expect(request.startedBy).toBe("Ada");
      expect(request.payment).toMatchObject({ amount: "250.00", currency: "USD" });
      expect(JSON.stringify(request)).not.toContain(payoutInput.beneficiary.iban);
      expect(request.payment).toMatchObject({ payout_reference: `to …${iban.slice(-4)}` });
      expect((await service.simulator.state()).requests).toEqual({});
      await handle.terminate();
    }));

  it("takes no decision of who started it, of another payload, or of nobody", () =>
    waiting(async (handle, { hash }) => {
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [undefined, "Give the name of who decides (by)."],
        [{ hash, approve: true }, "Give the name of who decides (by)."],
        [
          { by: " ada", hash, approve: true },
          " ada started this run: a second person has to decide.",
        ],
        [{ by: " ", hash, approve: true }, "Give the name of who decides (by)."],
        [{ by: "\u200B", hash, approve: true }, "Give the name of who decides (by)."],
        [
          { by: "Bob\n", hash, approve: true },
          "The name of who decides (by) must have no control characters.",
        ],
        [
          { by: "A\u200Bda", hash, approve: true },
          "A\u200Bda started this run: a second person has to decide.",
        ],
        [{ by: "Bob", approve: true }, `The approval is not for this payload (hash ${hash}).`],
        [
          { by: "Bob", hash: "x", approve: true },
          `The approval is not for this payload (hash ${hash}).`,
        ],
        [{ by: "Bob", hash }, "Give either approve: true, or reject with why."],
        [{ by: "Bob", hash, approve: false }, "Give either approve: true, or reject with why."],
        [{ by: "Bob", hash, reject: "" }, "Give either approve: true, or reject with why."],
        [
          { by: "Bob", hash, approve: true, reject: "no" },
          "Give either approve: true, or reject with why.",
        ],
      ];
      for (const [approval, message] of wrong) {
        expect(await rejectionOf(handle, approval)).toBe(message);
      }
      await handle.terminate();
    }));

  it("is paid when a second person approves it", () =>
    waiting(async (handle, { hash }) => {
      await decide(handle, { by: "Bob", hash, approve: true });
      expect(await handle.result()).toMatchObject({ payout_status: "completed" });
      expect(await handle.query(auditQuery)).toContainEqual(
        expect.objectContaining({ who: "Bob", step: "awaitApproval", what: "approved" }),
      );
      expect((await handle.query(progressQuery)).shown).toEqual({});
    }));

  it("is never paid when a second person rejects it", () =>
    waiting(async (handle, { hash }) => {
      await decide(handle, { by: "Bob", hash, reject: "unknown supplier" });
      const failure = await failureOf(handle.result());
      expect(failure).toMatchObject({ type: "Rejected", details: [{ by: "Bob" }] });
      expect(failure.message).toContain("unknown supplier");
      expect((await service.simulator.state()).requests).toEqual({});
    }));

  it("cannot be approved where nobody says who started it", () =>
    waiting(async (handle, { hash }) => {
      expect(await rejectionOf(handle, { by: "Bob", hash, approve: true })).toContain("startedBy");
      await handle.terminate();
    }, {}));

  it.each([
    ["overruled its end", { by: " ", startedBy: "Eve" }],
    ["started what was rejected", { by: "Eve", startedBy: "" }],
  ])("cannot be approved where nobody knows who %s", (_, { by, startedBy }) =>
    withWorker(rig, service.activities, async ({ taskQueue }) => {
      const at = new Date(0).toISOString();
      const rejected = { what: "rejected", by: "Bob", why: "unknown supplier", at } as const;
      const earlier = { workflowId: "payouts/0", runId: "run-0", startedBy };
      const handle = await rig.environment.client.workflow.start(payoutBatch, {
        args: [
          {
            chunks: 1,
            rows: 1,
            totals: { USD: "250.00" },
            overruled: [{ ...rejected, ...earlier, overruled: { by, why: "cleared", at } }],
          },
        ],
        taskQueue,
        workflowId: crypto.randomUUID(),
        memo: { startedBy: "Ada" },
      });
      const hash = await vi.waitFor(
        async () => {
          const { shown } = await handle.query(progressQuery);
          expect(shown).toHaveProperty("approval");
          // As the step shows it.
          return (shown["approval"] as ApprovalRequest).hash;
        },
        { timeout: 120_000, interval: 50 },
      );
      const approval = { by: "Carol", hash, approve: true as const };
      await expect(handle.executeUpdate(approveUpdate, { args: [approval] })).rejects.toMatchObject(
        {
          cause: { message: expect.stringMatching(/^Nobody can approve a run/) as unknown },
        },
      );
      await handle.terminate();
    }),
  );

  it.each([[[]], [[" "]], [["Carol", ""]], [undefined]])(
    "cannot be approved where its retry amends it, and names as who has amended it %j",
    (amendedBy) => {
      const input = {
        ...payoutInput,
        payout: { ...payoutInput.payout, amount: "700.00" },
        options: { approval: { above: "249.99" } },
      };
      const instruction = {
        by: "Bob",
        reason: "wrong",
        from: "awaitApproval",
        fields: ["payout.amount"],
        input,
        amendedBy,
        sent: {},
      };
      const readRetryInstruction = async () => ({
        runId: Context.current().info.workflowExecution?.runId ?? "",
        // Anybody who reaches Temporal can leave any instruction.
        instruction: instruction as unknown as RetryInstruction,
        isOutdated: false,
      });
      return withWorker(
        rig,
        { ...service.activities, readRetryInstruction },
        async ({ taskQueue }) => {
          const { workflowId } = await begin(taskQueue, { startedBy: "Ada" }, "249.99");
          const handle = rig.environment.client.workflow.getHandle(workflowId);
          const requestOf = async () => {
            const { shown } = await handle.query(progressQuery);
            expect(shown).toHaveProperty("approval");
            // As the step shows it.
            return shown["approval"] as ApprovalRequest;
          };
          const patience = { timeout: 120_000, interval: 50 };
          await vi.waitFor(requestOf, patience);
          const { events } = await handle.fetchHistory();
          const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
          await rig.environment.client.workflowService.resetWorkflowExecution({
            namespace: "default",
            requestId: workflowId,
            reason: "amended",
            workflowExecution: { workflowId },
            workflowTaskFinishEventId: first?.eventId ?? null,
          });
          const hash = await vi.waitFor(async () => {
            const request = await requestOf();
            expect(request.payment).toMatchObject({ amount: "700.00" });
            return request.hash;
          }, patience);
          const approval = { by: "Bob", hash, approve: true as const };
          await expect(
            handle.executeUpdate(approveUpdate, { args: [approval] }),
          ).rejects.toMatchObject({
            cause: { message: expect.stringMatching(/^Nobody can approve a run/) as unknown },
          });
          await handle.terminate();
        },
      );
    },
  );

  it("is not amended past the second person when it is refused, below the limit neither", () =>
    withWorker(rig, service.activities, async ({ start }) => {
      await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
      const options = { approval: { above: "250" }, onRefusal: "ask" } as const;
      const handle = await start(payout, [{ ...payoutInput, options }]);
      const attention = await vi.waitFor(
        async () => {
          const { attention } = await handle.query(progressQuery);
          expect(attention).toBeDefined();
          return attention;
        },
        { timeout: 120_000, interval: 50 },
      );
      expect(attention?.actions).toEqual(["resend", "abandon"]);
      expect(attention?.reason).toMatch(
        /: Refused on demand\. This payment needs .* abandon it and retry the run amended/,
      );
      const amend = { by: "Bob", amend: { amount: "9999.00" } };
      await expect(resolve(handle, amend)).rejects.toMatchObject({
        cause: { message: "Give exactly one of resend, abandon." },
      });
      await handle.terminate();
      expect((await service.simulator.state()).payouts).toEqual([]);
    }));

  it("up to the limit asks nobody", () =>
    withWorker(rig, service.activities, async ({ taskQueue }) => {
      const handle = await begin(taskQueue, {}, "250");
      expect(await handle.result()).toMatchObject({ payout_status: "completed" });
    }));
});
