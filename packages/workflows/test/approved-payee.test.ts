import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  auditQuery,
  type PayoutInput,
  progressQuery,
  type RetryInstruction,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { makeRows, startBatch } from "./support/batches.ts";
import { type Decided, decide } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useServiceWithLimit } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";

const POLLING = { timeout: 120_000, interval: 50 };

const rig = useRig(localRig);

const service = useServiceWithLimit({
  settleAfter: 0,
  verifyAfter: 0,
  balances: { USD: "100000.00" },
});

const { beneficiary } = payoutInput;

/** Somebody else, whose account is not the one that was approved. */
const mallory = { ...beneficiary, account_holder: "Mallory", iban: "DE02120300000000202051" };

const above = {
  beneficiary,
  payout: { ...payoutInput.payout, amount: "250.00" },
} satisfies PayoutInput;

const pay = (input: PayoutInput, workflowId: string = randomUUID()) =>
  rig.environment.client.workflow.start(payout, {
    args: [input],
    taskQueue: rig.queue.taskQueue,
    workflowId,
    memo: { startedBy: "Ada" },
  });

const requestOf = (handle: WorkflowHandle): Promise<ApprovalRequest> =>
  vi.waitFor(async () => {
    const { shown } = await handle.query(progressQuery);
    expect(shown["approval"]).toBeDefined();
    // As the step shows it.
    return shown["approval"] as ApprovalRequest;
  }, POLLING);

const approve = async (handle: WorkflowHandle, by = "Bob") => {
  const { hash } = await requestOf(handle);
  const approval: Approval = { by, hash, approve: true };
  await handle.executeUpdate(approveUpdate, { args: [approval] });
};

const taskOf = (handle: WorkflowHandle, reason = "") =>
  vi.waitFor(async () => {
    const { attention } = await handle.query(progressQuery);
    expect(attention?.reason).toContain(reason);
    return attention!;
  }, POLLING);

const refusalOf = async (handle: WorkflowHandle, decided: Decided): Promise<string> => {
  const error: unknown = await decide(handle, decided).catch((thrown: unknown) => thrown);
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : "taken";
};

/** Whom the payouts went to, by holder. */
const paid = async (): Promise<ReadonlyArray<string>> => {
  const { beneficiaries, payouts } = await service.simulator.state();
  return payouts.map(({ beneficiary_id }) =>
    String(
      beneficiaries.find((one) => one.beneficiary_id === beneficiary_id)?.details["account_holder"],
    ),
  );
};

it("a row of an approved batch is amended by nobody while it asks, as a payout that was approved", () =>
  withWorker(rig, service.activities, async () => {
    const [row] = makeRows(1, () => "150.00").map((one) => ({
      ...one,
      input: { ...one.input, options: { onRefusal: "ask" as const } },
    }));
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createBeneficiary" });
    const batch = await startBatch(rig, [row!]);
    await approve(batch);
    const handle = rig.environment.client.workflow.getHandle(row!.workflowId);
    const task = await vi.waitFor(() => taskOf(handle), POLLING);
    expect(task.actions).toEqual(["resend", "abandon"]);
    const amend = { beneficiary: { iban: mallory.iban, account_holder: "Mallory" } };
    expect(await refusalOf(handle, { by: "Mallory", amend })).toBe(
      "Give exactly one of resend, abandon.",
    );
    await decide(handle, { by: "Mallory", resend: true });
    expect(await batch.result()).toMatchObject({ completed: 1, failed: 0 });
    expect(await paid()).toEqual([beneficiary.account_holder]);
  }));

const byNumber = {
  ...beneficiary,
  iban: "",
  bank_country: "US",
  account_number: "000123456789",
  swift_code: "CHASUS33",
  routing_code_type1: "aba",
  routing_code_value1: "021000021",
};

describe("a beneficiary that one person gives for the one that was approved is refused,", () => {
  it.each([
    ["with the account of another one", above.beneficiary, mallory, "iban"],
    [
      "without the IBAN",
      above.beneficiary,
      { ...mallory, iban: "", bank_country: "US", account_number: "31926819" },
      "bank_country",
    ],
    [
      "with the same number at another bank",
      byNumber,
      { ...byNumber, swift_code: "EVILUS99", routing_code_value1: "999999999" },
      "swift_code",
    ],
    ["with another routing code", byNumber, { ...byNumber, routing_code_value1: "1" }, "routing"],
    ["with another holder", byNumber, { ...byNumber, account_holder: "Zoe" }, "account_holder"],
    ["with another bank", byNumber, { ...byNumber, bank_name: "Evil Bank" }, "bank_name"],
    [
      "with a code that was not sent",
      above.beneficiary,
      { ...beneficiary, clearing_system: "EVIL" },
      "clearing_system",
    ],
  ])("%s", (_, approved, other, field) =>
    withWorker(rig, service.activities, async () => {
      const { beneficiary_id } = await service.client.createBeneficiary(other);
      await service.simulator.addFault({ kind: "dropped", operation: "createBeneficiary" });
      const options = { onLostBeneficiary: "ask" } as const;
      const handle = await pay({ ...above, beneficiary: approved, options });
      await approve(handle);
      await taskOf(handle);
      await decide(handle, { by: "Mallory", found: { beneficiary_id } });
      const { reason } = await taskOf(handle, "What was found is not it");
      expect(reason).toContain(field);
      const { beneficiaries } = await service.simulator.state();
      const made = beneficiaries.find((one) => one.beneficiary_id !== beneficiary_id)!;
      // What was made as it was approved is taken, and paid without a further question.
      await decide(handle, { by: "Olga", found: { beneficiary_id: made.beneficiary_id } });
      await handle.result();
      const { payouts } = await service.simulator.state();
      expect(payouts.map((one) => one.beneficiary_id)).toEqual([made.beneficiary_id]);
    }),
  );
});

describe("an instruction of a retry that nobody's journal bears out", () => {
  /** Puts an ended run back to a step, as whoever has a client of Temporal can, with an instruction. */
  const resetWith = async (
    handle: WorkflowHandle,
    operation: string,
    sent: RetryInstruction["sent"],
  ) => {
    const { client } = rig.environment;
    const { runId } = await handle.describe();
    const { events = [] } = await handle.fetchHistory();
    const step = events?.findIndex(
      ({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled?.activityType?.name === operation,
    );
    const task = events?.slice(0, step).findLast((one) => one.workflowTaskCompletedEventAttributes);
    const instructionId = `retry/${runId}/forged`;
    await client.workflow.start("retryInstruction", {
      workflowId: instructionId,
      taskQueue: `${rig.queue.taskQueue}/retry-instructions`,
      args: [{ by: "Ada", reason: "again", from: operation, fields: [], amendedBy: [], sent }],
    });
    await client.workflowService.resetWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: `again [${instructionId}]`,
      workflowTaskFinishEventId: task?.eventId ?? null,
      requestId: randomUUID(),
      // All that was decided after that event is taken over.
      resetReapplyType: 3,
    });
    return client.workflow.getHandle(handle.workflowId);
  };

  it("names no beneficiary that is paid under the approval of another one", () =>
    withWorker(rig, service.activities, async () => {
      const { beneficiary_id } = await service.client.createBeneficiary(mallory);
      await service.simulator.addFault({ kind: "refusal-in-200", operation: "createBeneficiary" });
      const handle = await pay(above);
      await approve(handle);
      expect(await failureOf(handle.result())).toMatchObject({ type: "Refused" });
      const again = await resetWith(handle, "createBeneficiary", {
        createBeneficiary: { outcome: "known", ids: { beneficiary_id } },
      });
      await again.result();
      expect(await paid()).toEqual([beneficiary.account_holder]);
    }));

  it("says of no payout that it was undone, so that it is paid again", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await pay(above);
      await approve(handle);
      await handle.result();
      const again = await resetWith(handle, "createPayout", {
        createPayout: { outcome: "nothing", amendments: 1, isUndone: true },
      });
      await again.result();
      expect(await paid()).toEqual([beneficiary.account_holder]);
    }));

  const issue = (card_limit: string) =>
    rig.environment.client.workflow.start(onboardCardholder, {
      args: [{ ...onboardInput, card: { ...onboardInput.card, card_limit } }],
      taskQueue: rig.queue.taskQueue,
      workflowId: randomUUID(),
      memo: { startedBy: "Ada" },
    });

  it("says of no card that it was undone, so that a second one is funded", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await issue("150.00");
      await approve(handle);
      await handle.result();
      const again = await resetWith(handle, "createCard", {
        issueCard: { outcome: "nothing", amendments: 1, isUndone: true },
      });
      expect((await taskOf(again)).reason).toContain("the journal does not have it as undone");
      await decide(again, { by: "Carol", resend: true });
      // A second person is asked anew.
      expect((await requestOf(again)).resentBy).toEqual(["Carol"]);
      expect((await service.simulator.state()).cards).toHaveLength(1);
      await again.terminate();
    }));

  it("names no cardholder whom no list shows", () =>
    withWorker(rig, service.activities, async () => {
      await service.simulator.addFault({ kind: "refusal-in-200", operation: "createCardholder" });
      const handle = await issue("50.00");
      expect(await failureOf(handle.result())).toMatchObject({ type: "Refused" });
      const again = await resetWith(handle, "createCardholder", {
        createCardholder: { outcome: "known", ids: { card_holder_id: "nonsense" } },
      });
      await vi.waitFor(async () => {
        const said = (await again.query(auditQuery)).map(({ what }) => what);
        expect(said).toContain("not what this step sent");
      }, POLLING);
      // What an earlier run may have sent is looked for in the list first.
      await again.terminate();
    }));
});

it("a step whose answer is about something else asks a person, and nothing goes on", () =>
  withWorker(
    rig,
    {
      ...service.activities,
      createPayout: async () => {
        throw ApplicationFailure.nonRetryable("It names another one.", "AnswerContradicts");
      },
    },
    async () => {
      const handle = await pay({ beneficiary, payout: { ...above.payout, amount: "50.00" } });
      const { actions, reason } = await taskOf(handle);
      expect(reason).toBe("It names another one.");
      expect(actions).toEqual(["found", "resend", "abandon"]);
      await handle.terminate();
    },
  ));
