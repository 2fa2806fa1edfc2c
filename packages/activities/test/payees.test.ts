import { type Journal, makeMemoryJournal } from "@durable-payments/journal";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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
  account: `…${number.slice(-4)}`,
  paid_before,
});

const created = async () =>
  (await run(made.activities.createBeneficiary, beneficiary)).beneficiary_id;

describe("the payee that an approver is shown", () => {
  it("is one with four characters of its account, and never paid as long as nothing was", async () => {
    const never = described("never, as the journal has it");
    expect(await run(made.activities.describePayee, { beneficiary })).toEqual(never);
    const beneficiary_id = await created();
    expect(await run(made.activities.describePayee, { beneficiary_id })).toEqual(never);
  });

  it("was paid before by whatever beneficiary has the account", async () => {
    const beneficiary_id = await created();
    const currency = beneficiary.account_currency;
    await run(made.activities.createPayout, { ...payout, beneficiary_id, currency });
    const paid = described("yes");
    expect(await run(made.activities.describePayee, { beneficiary_id })).toEqual(paid);
    expect(await run(made.activities.describePayee, { beneficiary })).toEqual(paid);
    const spaced = { ...beneficiary, iban: number.toLowerCase().replaceAll(/(.{4})/g, "$1 ") };
    expect(await run(made.activities.describePayee, { beneficiary: spaced })).toMatchObject({
      paid_before: "yes",
    });
    const other = { ...beneficiary, iban: "GB33BUKB20201555555555" };
    expect(await run(made.activities.describePayee, { beneficiary: other })).toMatchObject({
      account: "…5555",
      paid_before: "never, as the journal has it",
    });
  });

  it("is unknown where neither the service nor a journal tells", async () => {
    const alone = activitiesFor("http://127.0.0.1:1");
    const beneficiary_id = "6f1e7f5c-0a34-4d5b-8a55-0a8f4b1f8a10";
    expect(await run(alone.activities.describePayee, { beneficiary_id })).toEqual({
      account_holder: "unknown",
      bank_country: "unknown",
      account: "unknown",
      paid_before: "unknown: the journal cannot tell",
    });
    await alone.close();
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
