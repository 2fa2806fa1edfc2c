import { nudgeSignal } from "@durable-payments/protocol/calls";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import type { ApplicationFailure, WorkflowFailedError, WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beneficiary, payout, startRealRig } from "./support/real-rig.ts";
import { eventsOf, until } from "./support/stub-rig.ts";

let rig: Awaited<ReturnType<typeof startRealRig>>;
let known: string;
beforeAll(async () => {
  rig = await startRealRig();
  const handle = await rig.start("payout", "first", [{ beneficiary, payout }]);
  await handle.result();
  await rig.record(handle, "payout-new-beneficiary");
  const { beneficiaries } = await rig.simulator.state();
  known = Object.values(beneficiaries)[0]?.beneficiary_id ?? "";
}, 60_000);
afterAll(() => rig[Symbol.asyncDispose](), 30_000);

/** Payouts that the service has with this reference. */
const paid = async (reference: string): Promise<number> => {
  const { payouts } = await rig.simulator.state();
  return Object.values(payouts).filter((one) => one.payout_reference === reference).length;
};

const inputOf = (payout_reference: string) => ({
  beneficiary_id: known,
  payout: { ...payout, payout_reference },
});

const scheduled = (events: ReadonlyArray<string>) =>
  events.filter((event) => event === "activityTaskScheduled").length;

it("a payout to a known beneficiary costs 17 events and 3 actions", async () => {
  const handle = await rig.start("payout", "known", [inputOf("known")]);
  expect(await handle.result()).toMatchObject({
    currency: "USD",
    payout_id: expect.any(String),
  });
  const events = await eventsOf(handle);
  expect(events.length).toBeLessThanOrEqual(17);
  expect(1 + scheduled(events)).toBe(3);
  expect(await paid("known")).toBe(1);
  await rig.record(handle, "payout-known");
});

it("an onboarding costs 29 events and 5 actions", async () => {
  const { card, cardholder } = inputs;
  const { card_name: _, ...unnamed } = { card_name: undefined, ...card };
  const handle = await rig.start("onboardCardholder", "onboarding", [
    { cardholder, card: unnamed },
  ]);
  expect(await handle.result()).toMatchObject({ card_id: expect.any(String) });
  const events = await eventsOf(handle);
  expect(events.length).toBeLessThanOrEqual(29);
  expect(1 + scheduled(events)).toBe(5);
  await rig.record(handle, "onboarding");
});

it("a lost answer adds no event", async () => {
  await rig.simulator.addFault({ kind: "dropped", operation: "createPayout" });
  const handle = await rig.start("payout", "lost", [inputOf("lost")]);
  await handle.result();
  expect((await eventsOf(handle)).length).toBeLessThanOrEqual(17);
  expect(await paid("lost")).toBe(1);
}, 30_000);

it("what a person has ended is not paid by a reset to the first task, nor by a new start of the id", async () => {
  const by = { by: "ada", how: "test", reason: "fraud" };
  await rig.ledger.pause("run", "ended", by);
  const handle = await rig.start("payout", "ended", [inputOf("ended")]);
  await until(async () => (await eventsOf(handle)).includes("timerStarted"));
  await rig.end("ended");
  await rig.ledger.resume("run", "ended", by);
  await handle.signal(nudgeSignal, {});
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: "Ended" } });
  await rig.record(handle, "payout-ended");
  const reset = await rig.reset(handle);
  await expect(reset.result()).rejects.toMatchObject({ cause: { type: "Ended" } });
  const again = await rig.start("payout", "ended", [inputOf("ended")]);
  await expect(again.result()).rejects.toMatchObject({ cause: { type: "Ended" } });
  const bare = await rig.start("payout", "ended", [inputOf("ended")], { isVouched: false });
  await expect(bare.result()).rejects.toMatchObject({ cause: { type: "Ended" } });
  expect(await paid("ended")).toBe(0);
}, 60_000);

it("a start of the same id returns what was paid", async () => {
  const first = await rig.start("payout", "twice", [inputOf("twice")]);
  const result = await first.result();
  const again = await rig.start("payout", "twice", [inputOf("twice")]);
  expect(await again.result()).toEqual(result);
  const bare = await rig.start("payout", "twice", [inputOf("twice")], { isVouched: false });
  expect(await bare.result()).toEqual(result);
  expect(await paid("twice")).toBe(1);
}, 30_000);

it("a run that was terminated after its answer was lost pays once by a new start", async () => {
  await rig.simulator.addFault({ kind: "dropped", operation: "createPayout" });
  const first = await rig.start("payout", "terminated", [inputOf("terminated")]);
  await until(async () => (await paid("terminated")) === 1);
  await first.terminate();
  const again = await rig.start("payout", "terminated", [inputOf("terminated")]);
  await again.result();
  expect(await paid("terminated")).toBe(1);
}, 60_000);

it("a refused payout is paid by a start of the id again", async () => {
  await rig.simulator.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const first = await rig.start("payout", "refused", [inputOf("refused")]);
  const error: unknown = await first.result().catch((failed: unknown) => failed);
  expect(error).toMatchObject({ cause: { type: "Refused" } });
  expect(await paid("refused")).toBe(0);
  await rig.record(first, "payout-refused");
  const facts = (error as WorkflowFailedError).cause as ApplicationFailure;
  const [{ step, version }] = facts.details as [{ step: string; version: number }];
  const versions = { [step]: version };
  const again = await rig.start("payout", "refused", [inputOf("refused")], { versions });
  await again.result();
  expect(await paid("refused")).toBe(1);
}, 60_000);

/** Returns the reason for which the last activity of a run waits. */
const whyWaiting = async (handle: WorkflowHandle, type: string): Promise<string> => {
  let why = "";
  await until(async () => {
    const { raw } = await handle.describe();
    const found = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
    why = found?.lastFailure?.message ?? "";
    return why !== "";
  });
  return why;
};

describe("an activity that is completed by hand", () => {
  it.concurrent("a wait that is completed as a failure lets nothing be paid a second time", async () => {
    const workflowId = "forged-wait";
    const first = await rig.start("pay", "forged-wait-first", [partOf(workflowId)]);
    const { payout_id } = (await first.result()) as { payout_id: string };
    await rig.simulator.setPayoutStatus(payout_id, "processing");
    const handle = await rig.start("payIfUnpaid", workflowId, [payout_id, partOf(workflowId)]);
    await until(async () => (await rig.ledger.waits({ workflowId })).length > 0);
    await rig.environment.client.activity.complete(
      { workflowId, activityId: `awaitPayout:${payout_id}` },
      { payout_id, outcome: "failed", payout_status: "rejected" },
    );
    expect(await whyWaiting(handle, "createPayout")).toContain("which the ledger does not confirm");
    expect(await paid(workflowId)).toBe(1);
    // It has failed since, so the run goes on.
    await rig.simulator.setPayoutStatus(payout_id, "rejected");
    await handle.result();
    expect(await paid(workflowId)).toBe(2);
  }, 60_000);

  it.concurrent("a beneficiary of somebody's choice is not paid", async () => {
    // Its activity waits, so there is time to complete it.
    await rig.simulator.addFault({ kind: "html-502", operation: "createBeneficiary", times: 100 });
    const handle = await rig.start("payout", "forged-payee", [
      {
        beneficiary: { ...beneficiary, iban: "GB82WEST12345698765432" },
        payout: { ...payout, payout_reference: "forged payee" },
      },
    ]);
    await whyWaiting(handle, "createBeneficiary");
    const { raw } = await handle.describe();
    const activityId = raw.pendingActivities?.[0]?.activityId ?? "";
    await rig.environment.client.activity.complete(
      { workflowId: "forged-payee", activityId },
      { is: "done", made: { beneficiary_id: known } },
    );
    expect(await whyWaiting(handle, "createPayout")).toContain("which the ledger does not confirm");
    expect(await paid("forged payee")).toBe(0);
    await handle.terminate();
  }, 60_000);
});

const partOf = (payout_reference: string) => ({
  ...payout,
  beneficiary_id: known,
  payout_reference,
});

it("steps that run at once pay once each, whatever their order in a reset", async () => {
  const parts = ["a", "b", "c"].map((step) => [step, partOf(`at once ${step}`)]);
  const handle = await rig.start("payAtOnce", "at-once", [parts]);
  const result = await handle.result();
  const reset = await rig.reset(handle);
  expect(await reset.result()).toEqual(result);
  await rig.record(handle, "at-once");
  for (const step of ["a", "b", "c"]) expect(await paid(`at once ${step}`)).toBe(1);
}, 60_000);

it.concurrent("two runs of the same request pay twice: they are two ids", async () => {
  const runs = ["one", "other"].map((id) => rig.start("pay", id, [partOf("two runs")]));
  await Promise.all((await Promise.all(runs)).map((handle) => handle.result()));
  expect(await paid("two runs")).toBe(2);
}, 60_000);

it.concurrent("a child that its parent starts again pays once", async () => {
  const child = "parent/child";
  const handle = await rig.start("payByChildren", "parent", [[child, child], partOf("child")]);
  await handle.result();
  expect(await paid("child")).toBe(1);
  expect(await rig.ledger.rowsOf("parent")).toMatchObject([
    { workflowId: child, step: "createPayout", ownerId: child, rootId: "parent" },
  ]);
  const again = await rig.start("payByChildren", "parent", [[child], partOf("child")]);
  await again.result();
  await rig.record(handle, "parent");
  expect(await paid("child")).toBe(1);
}, 60_000);

it.concurrent("a run that is cancelled while it is paused is not paid, and a later start pays", async () => {
  const by = { by: "ada", how: "test", reason: "stop" };
  await rig.ledger.pause("run", "cancelled", by);
  const handle = await rig.start("payout", "cancelled", [inputOf("cancelled")]);
  await until(async () => (await eventsOf(handle)).includes("timerStarted"));
  await handle.cancel();
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: "CancelledFailure" } });
  await rig.record(handle, "payout-cancelled");
  expect(await paid("cancelled")).toBe(0);
  await rig.ledger.resume("run", "cancelled", by);
  const again = await rig.start("payout", "cancelled", [inputOf("cancelled")]);
  await again.result();
  expect(await paid("cancelled")).toBe(1);
}, 60_000);

it("a reset of a user's own workflow keeps their activities, and pays once", async () => {
  const handle = await rig.start("noteAndPay", "own", ["once", partOf("own")]);
  const result = await handle.result();
  const reset = await rig.reset(handle, 2);
  expect(await reset.result()).toEqual(result);
  expect(rig.notes.filter((note) => note === "once")).toHaveLength(1);
  expect(await paid("own")).toBe(1);
}, 60_000);

it("a wrong request fails with every fault, and leaves nothing", async () => {
  const before = await rig.simulator.state();
  const input = { beneficiary: { ...beneficiary, iban: 5 }, payout: { ...payout, amount: "-1" } };
  const handle = await rig.start("payout", "wrong", [input]);
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: "InvalidRequest" } });
  expect(Object.keys((await rig.simulator.state()).beneficiaries)).toEqual(
    Object.keys(before.beneficiaries),
  );
});
