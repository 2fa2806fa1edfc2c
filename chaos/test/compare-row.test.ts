import { describe, expect, it } from "vitest";
import { amountOf, compareRow } from "../src/operator/compare-row.ts";

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

describe("a row of a list beside what was sent", () => {
  it.each([
    [
      "the same key, whatever else",
      { ...row, amount: null, unique_request_id: "key-1" },
      "sameKey",
    ],
    ["the same fields", row, "exact"],
    ["a key of the service's own", { ...row, unique_request_id: "S-1" }, "exact"],
    ["capitals", { ...row, payout_reference: "INVOICE 7" }, "exact"],
    ["an amount in groups", { ...row, amount: "3,500.0" }, "exact"],
    ["an amount as a number", { ...row, amount: 3500 }, "exact"],
    ["a date in another notation", { ...row, payment_date: 1_795_305_600_000 }, "exact"],
    ["an amount that cannot be read", { ...row, amount: {} }, "possible"],
    ["no reference", { ...row, payout_reference: undefined }, "possible"],
    ["another amount alone", { ...row, amount: "3500.01" }, "similar"],
    ["another payee alone", { ...row, beneficiary_id: "b-2" }, "similar"],
    ["another amount and payee", { ...row, amount: "3500.01", beneficiary_id: "b-2" }, "different"],
    ["another amount and no payee", { ...row, amount: "1", beneficiary_id: null }, "similar"],
  ])("sees %s", (_, listed, match) => {
    expect(compareRow(sent, listed)).toBe(match);
  });

  it("is a different one where one of two names differs, or an amount alone", () => {
    const ada = { first_name: "Ada", last_name: "Lovelace" };
    expect(compareRow(ada, { ...ada, first_name: "Grace" })).toBe("different");
    expect(compareRow({ amount: "100.00" }, { amount: "100.01" })).toBe("different");
  });

  it("is the same where a charge is listed below zero", () => {
    expect(compareRow({ amount: "100.00" }, { amount: "-100.00" })).toBe("exact");
    expect(amountOf("1e3")).toBeUndefined();
  });
});
