import { contentOfPayout } from "@durable-payments/activities/payout-content";
import {
  type Approval,
  type ApprovalRequest,
  approveUpdate,
  type PayoutInput,
  progressQuery,
} from "@durable-payments/protocol";
import type { WorkflowHandle } from "@temporalio/client";
import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { onboardCardholder, payout } from "../src/index.ts";
import { makeRows, startBatch } from "./support/batches.ts";
import { decide as resolve } from "./support/decide.ts";
import { failureOf } from "./support/failure-of.ts";
import { useRig, useServiceWithLimit } from "./support/hooks.ts";
import { onboardInput, payoutInput } from "./support/inputs.ts";
import { localRig, withWorker } from "./support/rig.ts";
import { untilAsked } from "./support/until.ts";

const POLLING = { timeout: 120_000, interval: 50 };

const rig = useRig(localRig);

const service = useServiceWithLimit({
  settleAfter: 0,
  verifyAfter: 0,
  balances: { USD: "100000.00" },
});

const ledger = () => service.simulator.state();

const of = (amount: string, currency = "USD"): PayoutInput => ({
  ...payoutInput,
  payout: { ...payoutInput.payout, amount, currency },
});

const toExisting = async (amount: string): Promise<PayoutInput> => {
  const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
  return { beneficiary_id, payout: of(amount).payout };
};

/** Whoever has the id of a beneficiary changes at the service whom it pays. */
const changePayee = async (input: PayoutInput): Promise<void> => {
  if (!("beneficiary_id" in input)) throw new Error("It has no beneficiary yet");
  const { iban: _, ...details } = payoutInput.beneficiary;
  await service.client.updateBeneficiary({
    ...details,
    beneficiary_id: input.beneficiary_id,
    account_holder: "Mallory",
    account_number: "66666666",
    clearing_system: "",
  });
};

const pay = (input: PayoutInput, memo: Readonly<Record<string, unknown>> = {}) =>
  rig.environment.client.workflow.start(payout, {
    args: [input],
    taskQueue: rig.queue.taskQueue,
    workflowId: randomUUID(),
    memo: { startedBy: "Ada", ...memo },
  });

const issue = (card_limit: string) =>
  rig.environment.client.workflow.start(onboardCardholder, {
    args: [{ ...onboardInput, card: { ...onboardInput.card, card_limit } }],
    taskQueue: rig.queue.taskQueue,
    workflowId: randomUUID(),
    memo: { startedBy: "Ada" },
  });

const requestOf = (handle: WorkflowHandle): Promise<ApprovalRequest> =>
  vi.waitFor(async () => {
    const { shown, stage } = await handle.query(progressQuery);
    expect(stage).toMatch(/^awaitApproval/);
    expect(shown["approval"]).toBeDefined();
    // As the step shows it.
    return shown["approval"] as ApprovalRequest;
  }, POLLING);

const approve = (handle: WorkflowHandle, by: string, { hash }: ApprovalRequest) => {
  const approval: Approval = { by, hash, approve: true };
  return handle.executeUpdate(approveUpdate, { args: [approval] });
};

const refusalOf = async (handle: WorkflowHandle, by: string): Promise<string> => {
  const request = await requestOf(handle);
  const error: unknown = await approve(handle, by, request).catch((thrown: unknown) => thrown);
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : "taken";
};

describe("above the limit of the worker", () => {
  it("a payout to an existing beneficiary waits for a second person, and is then sent once", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await pay(await toExisting("100.01"));
      const request = await requestOf(handle);
      expect(request).toMatchObject({
        why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)",
        startedBy: "Ada",
        payment: {
          amount: "100.01",
          account_holder: payoutInput.beneficiary.account_holder,
          bank_country: payoutInput.beneficiary.bank_country,
          iban: `…${payoutInput.beneficiary.iban.slice(-4)}`,
          paid_before: "unknown: the journal cannot tell",
        },
      });
      expect(JSON.stringify(request)).not.toContain(payoutInput.beneficiary.iban);
      expect(await refusalOf(handle, "\u0410da")).toContain("started this run");
      expect((await ledger()).payouts).toEqual([]);
      await approve(handle, "Bob", request);
      expect(await handle.result()).toMatchObject({ outcome: "completed" });
      expect((await ledger()).payouts).toMatchObject([{ amount: "100.01" }]);
    }));

  it("the approval of a payout is one of its payee's details, which are read again before it is sent", () =>
    withWorker(rig, service.activities, async () => {
      const input = await toExisting("100.01");
      const handle = await pay(input);
      const request = await requestOf(handle);
      await changePayee(input);
      await approve(handle, "Bob", request);
      const other = await vi.waitFor(async () => {
        const asked = await requestOf(handle);
        expect(asked.hash).not.toBe(request.hash);
        return asked;
      }, POLLING);
      expect(other).toMatchObject({
        why: expect.stringContaining("other details than those that were approved") as unknown,
        payment: { account_holder: "Mallory", account_number: "…6666" },
      });
      expect((await ledger()).payouts).toEqual([]);
      await approve(handle, "Bob", other);
      expect(await handle.result()).toMatchObject({ outcome: "completed" });
      expect((await ledger()).payouts).toHaveLength(1);
    }));

  it("an approved payout whose payee cannot be read is sent once it can be", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await pay(await toExisting("100.01"));
      const request = await requestOf(handle);
      const operation = "retrieveBeneficiary";
      await service.simulator.addFault({ kind: "html-502", operation, times: 2 });
      await approve(handle, "Bob", request);
      expect(await handle.result()).toMatchObject({ outcome: "completed" });
      const { payouts, requests } = await ledger();
      expect(payouts).toHaveLength(1);
      expect(requests["createPayout"]).toBe(1);
    }));

  it("the hash of an approval is another one for other details of the payee", () =>
    withWorker(rig, service.activities, async () => {
      const input = await toExisting("100.01");
      const before = await requestOf(await pay(input));
      await changePayee(input);
      const after = await requestOf(await pay(input));
      expect(after.hash).not.toBe(before.hash);
      expect(JSON.stringify(after)).not.toContain("66666666");
    }));

  it("one to a new beneficiary is asked about once, before anything is created", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await pay(of("250.00"));
      const request = await requestOf(handle);
      expect((await ledger()).requests).toEqual({});
      await approve(handle, "Bob", request);
      expect(await handle.result()).toMatchObject({ outcome: "completed" });
    }));

  it("a limit that the run sets itself is another one, and raises nothing", () =>
    withWorker(rig, service.activities, async () => {
      for (const [amount, above] of [
        ["100.01", "5000"],
        ["10.01", "10"],
      ] as const) {
        const handle = await pay({ ...of(amount), options: { approval: { above } } });
        await approve(handle, "Bob", await requestOf(handle));
        expect(await handle.result()).toMatchObject({ outcome: "completed" });
      }
    }));

  it("a currency that the worker does not list needs an approval always", () =>
    withWorker(rig, service.activities, async () => {
      const beneficiary = { ...payoutInput.beneficiary, account_currency: "EUR" };
      const handle = await pay({ ...of("0.01", "EUR"), beneficiary });
      const request = await requestOf(handle);
      expect(request.why).toBe("in EUR, which PAYMENTS_APPROVE_ABOVE does not list");
      await handle.terminate();
    }));

  it("a card waits before its cardholder is created", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await issue("100.01");
      const request = await requestOf(handle);
      expect(request.payment).toMatchObject({ amount: "100.01", currency: "USD" });
      expect((await ledger()).requests).toEqual({});
      await approve(handle, "Bob", request);
      expect(await handle.result()).toMatchObject({ card_limit: "100.01" });
    }));

  it("a payout that is rejected is never sent", () =>
    withWorker(rig, service.activities, async () => {
      const handle = await pay(await toExisting("100.01"));
      const { hash } = await requestOf(handle);
      await handle.executeUpdate(approveUpdate, { args: [{ by: "Bob", hash, reject: "no" }] });
      expect(await failureOf(handle.result())).toMatchObject({ type: "Rejected" });
      expect((await ledger()).payouts).toEqual([]);
    }));
});

it("up to the limit nobody is asked, and the history is what it was", () =>
  withWorker(rig, service.activities, async () => {
    const handle = await pay(await toExisting("100.00"));
    expect(await handle.result()).toMatchObject({ outcome: "completed" });
    const { events } = await handle.fetchHistory();
    // The one that asks for its account.
    expect(events?.filter((event) => event.markerRecordedEventAttributes)).toHaveLength(1);
  }));

it("a request that a person amends to more than the limit is approved by another one", () =>
  withWorker(rig, service.activities, async () => {
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    const input = { ...(await toExisting("100.00")), options: { onRefusal: "ask" as const } };
    const handle = await pay(input);
    await untilAsked(handle);
    await resolve(handle, { by: "Carol", amend: { payout: { amount: "9999.00" } } });
    const request = await requestOf(handle);
    expect(request).toMatchObject({
      amendedBy: ["Carol"],
      amended: [{ field: "amount", before: "100.00", after: "9999.00" }],
      payment: { amount: "9999.00" },
    });
    expect(await refusalOf(handle, "Carol")).toContain("amended this payment");
    expect((await ledger()).payouts).toEqual([]);
    await approve(handle, "Bob", request);
    await handle.result();
    expect((await ledger()).payouts).toMatchObject([{ amount: "9999.00" }]);
  }));

it("what a person has sent again is approved by another one, though it was approved before", () =>
  withWorker(rig, service.activities, async () => {
    await service.simulator.addFault({ kind: "dropped-before", operation: "createCard" });
    await service.simulator.addFault({ kind: "refusal-in-200", operation: "createCard" });
    const handle = await issue("250.00");
    await approve(handle, "Bob", await requestOf(handle));
    await untilAsked(handle);
    await resolve(handle, { by: "Carol", resend: true });
    const request = await requestOf(handle);
    expect(request.resentBy).toEqual(["Carol"]);
    expect(await refusalOf(handle, "Carol")).toContain("had this sent again");
    expect((await ledger()).cards).toEqual([]);
    await approve(handle, "Dave", request);
    await handle.result();
    expect((await ledger()).cards).toHaveLength(1);
  }));

describe("a batch above the limit of the worker", () => {
  it("is approved once, with all of its rows", () =>
    withWorker(rig, service.activities, async () => {
      const { beneficiary_id } = await service.client.createBeneficiary(payoutInput.beneficiary);
      const rows = makeRows(3, () => "150.00").map((row, index) => {
        if (index > 0) return row;
        const input = { beneficiary_id, payout: row.input.payout };
        return { ...row, input, fingerprint: contentOfPayout(input) };
      });
      const batch = await startBatch(rig, rows, { input: { file: "march.csv" } });
      const request = await requestOf(batch);
      expect(request.payment).toEqual({
        file: "march.csv",
        rows: 3,
        USD: "450.00",
        // The first row names the beneficiary that has the account of the others.
        payees: 1,
        never_paid_before: "unknown",
      });
      expect((await ledger()).payouts).toEqual([]);
      await approve(batch, "Bob", request);
      expect(await batch.result()).toMatchObject({ completed: 3, failed: 0 });
    }));

  it("pays no row whose payee was changed since it was approved: that row asks on its own", () =>
    withWorker(rig, service.activities, async () => {
      const inputs = [await toExisting("150.00"), await toExisting("150.00")];
      const rows = makeRows(2, () => "150.00").map((row, index) => {
        const input = inputs[index]!;
        return { ...row, input, fingerprint: contentOfPayout(input) };
      });
      const batch = await startBatch(rig, rows);
      const request = await requestOf(batch);
      await changePayee(inputs[1]!);
      await approve(batch, "Bob", request);
      const handleOf = (index: number) =>
        rig.environment.client.workflow.getHandle(rows[index]!.workflowId);
      const asked = await vi.waitFor(() => requestOf(handleOf(1)), POLLING);
      expect(asked.payment).toMatchObject({ account_holder: "Mallory" });
      expect(await handleOf(0).result()).toMatchObject({ outcome: "completed" });
      expect((await ledger()).payouts).toHaveLength(1);
      const { hash } = asked;
      await handleOf(1).executeUpdate(approveUpdate, { args: [{ by: "Bob", hash, reject: "no" }] });
      expect(await batch.result()).toMatchObject({ completed: 1, failed: 1 });
    }));

  it("whose rows pay more than its totals say is not paid", () =>
    withWorker(rig, service.activities, async () => {
      const rows = makeRows(2, () => "90.00");
      const batch = await startBatch(rig, rows, { input: { totals: { USD: "99.00" } } });
      const failure = await failureOf(batch.result());
      expect(failure).toMatchObject({ type: "ChunkChanged" });
      expect(failure.message).toContain("pay more than its total of 99.00 USD");
      expect((await ledger()).payouts).toEqual([]);
    }));

  it("proves its approval to its own rows only", () =>
    withWorker(rig, service.activities, async () => {
      const [row] = makeRows(1, () => "150.00");
      const batch = await startBatch(rig, [row!]);
      await approve(batch, "Bob", await requestOf(batch));
      await batch.result();
      const { memo } = await rig.environment.client.workflow.getHandle(row!.workflowId).describe();
      const { approval } = memo ?? {};
      expect(approval).toEqual(expect.any(String));
      const other = await pay(row!.input, { approval });
      expect((await requestOf(other)).why).toContain("PAYMENTS_APPROVE_ABOVE");
      await other.terminate();
      const amended = await rig.environment.client.workflow.start(payout, {
        args: [of("150.01")],
        taskQueue: rig.queue.taskQueue,
        workflowId: row!.workflowId,
        memo: { startedBy: "Ada", approval },
      });
      await requestOf(amended);
      await amended.terminate();
    }));
});
