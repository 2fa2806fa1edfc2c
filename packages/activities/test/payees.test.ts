import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import type { PayoutInput } from "@durable-payments/protocol";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type PayeeMarks, Payees } from "../src/payees.ts";
import { Signer } from "../src/signer.ts";
import { activitiesFor, activitiesOver, run } from "./support/activities.ts";
import { beneficiary, payout } from "./support/bodies.ts";

// As if it were kept: what it knows is what a journal in a file would know.
let journal: Journal;
let simulator: Simulator;
let made: ReturnType<typeof activitiesOver>;
beforeEach(async () => {
  journal = { ...makeMemoryJournal(), isOfProcess: false };
  simulator = await startSimulator();
  made = activitiesOver(simulator, {}, { journal });
});
afterEach(async () => {
  await made.close();
  await simulator.stop();
});

const number = beneficiary.iban;
const described = (paid_before: string) => ({
  account_holder: beneficiary.account_holder,
  bank_country: beneficiary.bank_country,
  bank_name: beneficiary.bank_name,
  iban: `…${number.slice(-4)}`,
  paid_before,
});

const mark = expect.any(String) as unknown;

const created = async () =>
  (await run(made.activities.createBeneficiary, beneficiary)).beneficiary_id;

describe("the payee that an approver is shown", () => {
  it("is one with four characters of its account, and never paid as long as nothing was", async () => {
    const never = described("never, as the journal has it");
    expect(await run(made.activities.describePayee, { beneficiary })).toEqual(never);
    const beneficiary_id = await created();
    expect(await run(made.activities.describePayee, { beneficiary_id })).toEqual({
      ...never,
      mark,
    });
  });

  it("was paid before by whatever beneficiary has the account", async () => {
    const beneficiary_id = await created();
    const currency = beneficiary.account_currency;
    await run(made.activities.createPayout, { ...payout, beneficiary_id, currency });
    const paid = described("yes");
    expect(await run(made.activities.describePayee, { beneficiary_id })).toEqual({ ...paid, mark });
    expect(await run(made.activities.describePayee, { beneficiary })).toEqual(paid);
    const spaced = { ...beneficiary, iban: number.toLowerCase().replaceAll(/(.{4})/g, "$1 ") };
    expect(await run(made.activities.describePayee, { beneficiary: spaced })).toMatchObject({
      paid_before: "yes",
    });
    const other = { ...beneficiary, iban: "GB33BUKB20201555555555" };
    expect(await run(made.activities.describePayee, { beneficiary: other })).toMatchObject({
      iban: "…5555",
      paid_before: "never, as the journal has it",
    });
  });

  it.each([
    { account_number: "6666666666" },
    { swift_code: "CHASUS33" },
    { routing_code_type1: "aba", routing_code_value1: "021000021" },
    { clearing_system: "ACH" },
    { bank_name: "Another bank" },
    { bank_country: "NL" },
  ])("is another one with %j, and is shown so", async (more) => {
    const beneficiary_id = await created();
    const currency = beneficiary.account_currency;
    await run(made.activities.createPayout, { ...payout, beneficiary_id, currency });
    const other = { ...beneficiary, ...more };
    const shown = await run(made.activities.describePayee, { beneficiary: other });
    expect(shown.paid_before).toBe("never, as the journal has it");
    expect(shown).not.toEqual({ ...described("yes"), paid_before: shown.paid_before });
    expect(JSON.stringify(shown)).not.toContain("6666666666");
  });

  it("was not paid before where a beneficiary that was has another account now", async () => {
    const beneficiary_id = await created();
    const currency = beneficiary.account_currency;
    await run(made.activities.createPayout, { ...payout, beneficiary_id, currency });
    const before = await run(made.activities.describePayee, { beneficiary_id });
    const { iban: _, ...details } = beneficiary;
    const changed = { account_holder: "Mallory", account_number: "66666666", clearing_system: "" };
    await run(made.activities.updateBeneficiary, { ...details, ...changed, beneficiary_id });
    const after = await run(made.activities.describePayee, { beneficiary_id });
    expect(after).toMatchObject({
      account_holder: "Mallory",
      account_number: "…6666",
      paid_before: "this beneficiary was, this account never, as the journal has it",
    });
    expect(after.mark).not.toBe(before.mark);
  });

  it("is unknown where neither the service nor a journal tells", async () => {
    const alone = activitiesFor("http://127.0.0.1:1");
    const beneficiary_id = "6f1e7f5c-0a34-4d5b-8a55-0a8f4b1f8a10";
    expect(await run(alone.activities.describePayee, { beneficiary_id })).toEqual({
      account_holder: "unknown",
      bank_country: "unknown",
      iban: "unknown",
      paid_before: "unknown: the journal cannot tell",
      mark,
    });
    await alone.close();
  });

  describe("of which a batch counts", () => {
    const currency = beneficiary.account_currency;
    const toNew = { beneficiary, payout };
    const counted = async (inputs: ReadonlyArray<PayoutInput>) => {
      const payees = new Payees(made.runtime, journal, new Signer(made.runtime));
      const existing = new Map<string, PayeeMarks>();
      for (const input of inputs) {
        if (!("beneficiary_id" in input)) continue;
        const read = (id: string) => payees.marksOf(id, { nonRetryable: true });
        existing.set(input.beneficiary_id, await run(read, input.beneficiary_id));
      }
      return await run((given: typeof inputs) => payees.count(given, existing), inputs);
    };
    const pay = (beneficiary_id: string) =>
      run(made.activities.createPayout, { ...payout, beneficiary_id, currency });

    it("one that is given once by its id and once by its details as one", async () => {
      const inputs = [toNew, { beneficiary_id: await created(), payout }];
      expect(await counted(inputs)).toEqual({ payees: 1, neverPaid: 1, accountsNeverPaid: 1 });
    });

    it("two of one account as one, which was paid where one of them was", async () => {
      const [one, other] = [await created(), await created()];
      await pay(one);
      for (const inputs of [
        [
          { beneficiary_id: one, payout },
          { beneficiary_id: other, payout },
        ],
        [{ beneficiary_id: other, payout }],
        [toNew],
      ]) {
        expect(await counted(inputs)).toEqual({ payees: 1, neverPaid: 0, accountsNeverPaid: 0 });
      }
    });

    it("one that was paid, and has another account now, as one whose account never was", async () => {
      const beneficiary_id = await created();
      await pay(beneficiary_id);
      const { iban: _, ...details } = beneficiary;
      const changed = { account_number: "66666666", clearing_system: "" };
      await run(made.activities.updateBeneficiary, { ...details, ...changed, beneficiary_id });
      expect(await counted([{ beneficiary_id, payout }])).toEqual({
        payees: 1,
        neverPaid: 0,
        accountsNeverPaid: 1,
      });
      expect(await counted([{ beneficiary_id, payout }, toNew])).toEqual({
        payees: 2,
        neverPaid: 0,
        accountsNeverPaid: 1,
      });
    });

    it("one that cannot be read by its id alone", async () => {
      const beneficiary_id = "6f1e7f5c-0a34-4d5b-8a55-0a8f4b1f8a10";
      expect(await counted([{ beneficiary_id, payout }])).toEqual({
        payees: 1,
        neverPaid: 1,
        accountsNeverPaid: 1,
      });
    });
  });

  it("leaves no account number in the journal", async () => {
    await created();
    const kept: Array<unknown> = [];
    for await (const send of journal.since(0)) kept.push(send);
    expect(kept).toHaveLength(1);
    expect(JSON.stringify(kept)).not.toContain(number);
    expect(JSON.stringify(kept)).not.toContain(number.slice(-6));
  });
});
