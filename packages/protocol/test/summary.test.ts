import { expect, it } from "vitest";
import { summaryOfInput } from "../src/index.ts";

const payout = { amount: "250.00", currency: "eur" };

it.each([
  ["payout", { beneficiary: {}, payout }, "Pay 250.00 EUR to a new beneficiary"],
  ["payout", { beneficiary_id: "b-1", payout }, "Pay 250.00 EUR to the beneficiary b-1"],
  [
    "onboardCardholder",
    { cardholder: {}, card: { card_limit: "50.00" } },
    "Issue a card with 50.00 USD to a new cardholder",
  ],
  ["myOwn", { payout }, undefined],
  ["payout", "no input", undefined],
  ["__proto__", { payout }, undefined],
  ["constructor", { payout }, undefined],
])("what a %s run is to do is worded by its input", (type, input, summary) => {
  expect(summaryOfInput(type, input)).toBe(summary);
});
