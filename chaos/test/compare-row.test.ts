import { describe, expect, it } from "vitest";
import { amountOf, likenessOf } from "../src/operator/compare-row.ts";

const sent = {
  beneficiary_id: "b-1",
  amount: "3500.00",
  currency: "EUR",
  payout_reference: "Invoice  7",
  payment_date: "2026-11-22",
  unique_request_id: "key-1",
};

const row = {
  payout_id: "p-1",
  beneficiary_id: "b-1",
  amount: "3500.00",
  currency: "EUR",
  payout_reference: "Invoice 7",
  payment_date: "2026-11-22",
};

describe("a person who reads a list", () => {
  it.each([
    ["our own key, whatever else", { ...row, amount: null, unique_request_id: "key-1" }, "ours"],
    ["the same", row, "exact"],
    ["a key of the service's own", { ...row, unique_request_id: "S-1" }, "exact"],
    ["capitals", { ...row, payout_reference: "INVOICE 7" }, "exact"],
    ["an amount in groups", { ...row, amount: "3,500.0" }, "exact"],
    ["an amount as a number", { ...row, amount: 3500 }, "exact"],
    ["a date in another notation", { ...row, payment_date: 1_795_305_600_000 }, "exact"],
    ["an amount that cannot be read", { ...row, amount: {} }, "perhaps"],
    ["no reference", { ...row, payout_reference: undefined }, "perhaps"],
    ["another amount alone", { ...row, amount: "3500.01" }, "similar"],
    ["another payee alone", { ...row, beneficiary_id: "b-2" }, "similar"],
    ["another amount and payee", { ...row, amount: "3500.01", beneficiary_id: "b-2" }, "other"],
    ["another amount and no payee", { ...row, amount: "1", beneficiary_id: null }, "similar"],
  ])("sees %s", (_, listed, likeness) => {
    expect(likenessOf(sent, listed)).toBe(likeness);
  });

  it("takes one of two names, or an amount alone, for another's", () => {
    const ada = { first_name: "Ada", last_name: "Lovelace" };
    expect(likenessOf(ada, { ...ada, first_name: "Grace" })).toBe("other");
    expect(likenessOf({ amount: "100.00" }, { amount: "100.01" })).toBe("other");
  });

  it("reads a charge, which is below zero, as what was charged", () => {
    expect(likenessOf({ amount: "100.00" }, { amount: "-100.00" })).toBe("exact");
    expect(amountOf("1e3")).toBeUndefined();
  });
});
