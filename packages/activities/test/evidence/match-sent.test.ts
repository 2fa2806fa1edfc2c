import { describe, expect, it } from "vitest";
import { contradictionOf } from "../../src/evidence/match.ts";

const ID = "0b6f2a57-7b0f-4f57-9a0b-7a9a3f1f7a10";
const sent = { amount: "3500.50", currency: "EUR", beneficiary_id: ID };

describe("what the service reports of a payout", () => {
  it.each([
    {},
    { amount: "3500.50", currency: "EUR", beneficiary_id: ID },
    ...["3,500.50", "3500.5", "3500.5000", "3.500,50", "3 500.50", "EUR 3500.50", 3500.5].map(
      (amount) => ({ amount }),
    ),
    { amount: "0", currency: "", beneficiary_id: "" },
    { amount: "***", currency: "-", beneficiary_id: "0b6f****7a10" },
    { amount: "3502.00", fee_amount: "1.50" },
    { amount: "3499.00", fee_amount: "1.50" },
    { currency: "eur", beneficiary_id: ID.toUpperCase().replaceAll("-", "") },
    { beneficiary_id: `ben_${ID}` },
    { beneficiary_id: `{${ID}}` },
  ])("is what was sent, as far as %o says", (payout) => {
    expect(contradictionOf(sent, payout)).toBeUndefined();
  });

  it.each([
    [{ amount: "350.05" }, "350.05 of an unknown currency for a payout of 3500.50 EUR"],
    [{ amount: "35005", currency: "EUR" }, "35005 EUR for a payout of 3500.50 EUR"],
    [{ amount: "3500.51", currency: "EUR" }, "3500.51 EUR for a payout of 3500.50 EUR"],
    [{ amount: "3500", currency: "EUR" }, "3500 EUR for a payout of 3500.50 EUR"],
    [{ amount: "3500.50", currency: "USD" }, "3500.50 USD for a payout of 3500.50 EUR"],
    [
      { amount: "3500.50", currency: "EUR", beneficiary_id: "other-ben" },
      `3500.50 EUR to other-ben for a payout of 3500.50 EUR to ${ID}`,
    ],
  ])("contradicts it: %o", (payout, words) => {
    expect(contradictionOf(sent, payout)).toBe(words);
  });

  it("is not compared in the fields that it shows otherwise", () => {
    const payout = { amount: "35005", currency: "USD", beneficiary_id: ID };
    expect(contradictionOf(sent, payout, ["beneficiary_id"])).toBeUndefined();
    expect(contradictionOf(sent, payout, ["currency"])).toMatch(/^35005 USD/);
  });

  it("is 1000 or 1 where it is written as 1.000", () => {
    for (const amount of ["1000.00", "1.00"]) {
      expect(contradictionOf({ ...sent, amount }, { amount: "1.000" })).toBeUndefined();
    }
    expect(contradictionOf({ ...sent, amount: "50.00" }, { amount: "5.00" })).toMatch(/^5\.00 /);
    expect(contradictionOf({ ...sent, amount: "500.00" }, { amount: "5.00" })).toMatch(/^5\.00 /);
  });
});
