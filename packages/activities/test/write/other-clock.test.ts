import { createClient } from "@durable-payments/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import type { Attempt } from "../../src/write/guard.ts";
import { makeWorld } from "../support/writes.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { unique_request_id: _, ...payout } = withKey;

/** A service on another clock, whose list shows no keys. */
const onAnotherClock = async (clockOffsetMs: number) => {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const world = await makeWorld({
    clock,
    simulator: { clock: async () => clock(), tokenLifetime: "30 days" },
    settings: { assumptions: { listLagSeconds: 0 } },
  });
  const { simulator } = world;
  const setClock = (ahead: number) =>
    simulator.setTemperament({ payoutKeys: "dropped", clockOffsetMs: ahead });
  await setClock(clockOffsetMs);
  const payee = await world.once({ operation: "createBeneficiary", request: beneficiary });
  if (payee.is !== "done") throw new Error(JSON.stringify(payee));
  const beneficiary_id = String(payee.made["beneficiary_id"]);
  const requestOf = (payout_reference: string) => ({
    ...payout,
    beneficiary_id,
    payout_reference,
    amount: `${payout_reference.codePointAt(payout_reference.length - 1)}.00`,
  });
  /** Pays as often as Temporal tries, with a minute between two attempts. */
  const pay = async (reference: string, lost?: "dropped" | "dropped-before", most = 20) => {
    passed += 1_000;
    if (lost !== undefined) await simulator.addFault({ kind: lost, operation: "createPayout" });
    const task = { operation: "createPayout", request: requestOf(reference) };
    let testimony: Attempt["testimony"] = { is: "none" };
    for (let attempt = 1; ; attempt++) {
      const ended = await world.once(task, { workflowId: reference, attempt, testimony });
      if (ended.is !== "wait" || attempt === most) return ended;
      passed += 60_000;
      const { version } = ended;
      testimony = version === undefined ? undefined : { is: "version", version };
    }
  };
  /** Pays without the ledger, as a person does on the service's own pages. */
  const payByHand = async (reference: string) => {
    const { apiKey, clientId, url: baseUrl } = simulator;
    const client = createClient({ baseUrl, clientId, apiKey });
    onTestFinished(() => client.close());
    await client.createPayout(requestOf(reference));
  };
  const paid = async () =>
    (await simulator.state()).payouts.map(({ payout_reference }) => payout_reference).toSorted();
  const pass = (time: number) => void (passed += time);
  const knownFor = async (payout_id: string) => {
    const row = await world.ledger.payout(world.account, payout_id);
    return row && (await world.ledger.state()).now - row.changedAt;
  };
  /** Three payouts, one an hour, in an outage: the ledger has their ids two hours after the last. */
  const payKnownLate = async () => {
    for (const reference of ["Goods 1", "Goods 2", "Goods 3"]) await pay(reference);
    const references = ["Late 11", "Late 22", "Late 33"];
    for (const reference of references) {
      await simulator.addFault({ kind: "html-502", operation: "listPayouts" });
      expect(await pay(reference, "dropped", 1)).toMatchObject({ is: "wait" });
      pass(HOUR);
    }
    await payByHand("Rent");
    pass(HOUR);
    for (const reference of references)
      expect(await pay(reference)).toMatchObject({ is: "done", by: "likeness" });
  };
  return { knownFor, paid, pass, pay, payByHand, payKnownLate, setClock };
};

describe("a service on another clock, whose list shows no keys", () => {
  it.each([-DAY, -HOUR, HOUR, DAY])(
    "pays once if every second response is lost: %i ms",
    async (offset) => {
      const { paid, pay } = await onAnotherClock(offset);
      const references = Array.from({ length: 8 }, (_one, index) => `Order ${index}${index}`);
      for (const [index, reference] of references.entries()) {
        const ended = await pay(reference, index % 2 === 1 ? "dropped" : undefined);
        expect(ended).toMatchObject({ is: "done" });
      }
      expect(await paid()).toEqual(references);
    },
  );

  it.each([-DAY, 0, DAY])(
    "pays once, and asks a person, if its clock is set back before a response is lost: %i ms",
    async (offset) => {
      const { paid, pay, setClock } = await onAnotherClock(offset);
      for (const reference of ["Rent 1", "Rent 2", "Rent 3"]) await pay(reference);
      await setClock(offset - DAY);
      expect(await pay("Rent 4", "dropped")).toMatchObject({ is: "waiting", needs: "answer" });
      expect(await paid()).toEqual(["Rent 1", "Rent 2", "Rent 3", "Rent 4"]);
    },
  );

  it.each([-DAY, 0, DAY])(
    "asks nobody about a payment by hand that is days older than known results: %i ms",
    async (offset) => {
      const { paid, pass, pay, payByHand } = await onAnotherClock(offset);
      await payByHand("Rent");
      pass(3 * DAY);
      for (const reference of ["Goods 1", "Goods 2", "Goods 3"]) await pay(reference);
      expect(await pay("Rent", "dropped-before")).toMatchObject({ is: "done" });
      expect((await paid()).filter((reference) => reference === "Rent")).toHaveLength(2);
    },
  );

  it.each([[[]], [["Goods 1", "Goods 2"]]])(
    "asks a person about a payment by hand if too little shows its age: %j",
    async (before) => {
      const { pass, pay, payByHand } = await onAnotherClock(0);
      await payByHand("Rent");
      pass(3 * DAY);
      for (const reference of before) await pay(reference);
      expect(await pay("Rent", "dropped-before")).toMatchObject({ is: "waiting", needs: "answer" });
    },
  );

  it.each([-DAY, 0, DAY])(
    "takes no payment by hand of an hour ago for ours, though known results were recorded since: %i ms",
    async (offset) => {
      const { pay, payKnownLate } = await onAnotherClock(offset);
      await payKnownLate();
      expect(await pay("Rent", "dropped-before")).toMatchObject({ is: "waiting", needs: "answer" });
    },
  );

  it.each([-DAY, 0, DAY])(
    "asks nobody though known results were recorded hours late: %i ms",
    async (offset) => {
      const { paid, pay, payKnownLate } = await onAnotherClock(offset);
      await payKnownLate();
      expect(await pay("Goods 9", "dropped")).toMatchObject({ is: "done", by: "likeness" });
      expect(await paid()).toHaveLength(8);
    },
  );

  it("has a payout whose age the ledger tells by its own clock", async () => {
    const { knownFor, pass, pay } = await onAnotherClock(DAY);
    const ended = await pay("Rent");
    const id = ended.is === "done" ? String(ended.made["payout_id"]) : "";
    pass(2 * HOUR);
    expect(await knownFor(id)).toBeGreaterThanOrEqual(2 * HOUR);
    expect(await knownFor(id)).toBeLessThan(3 * HOUR);
    expect(await knownFor("another")).toBeUndefined();
  });
});
