import { describe, expect, it } from "vitest";
import { contradictedField } from "../../src/write/beneficiaries.ts";
import { beneficiary } from "../support/bodies.ts";

const request = {
  ...beneficiary,
  account_number: "000123456789",
  swift_code: "COBADEFF",
  routing_code_type1: "blz",
  routing_code_value1: "37040044",
};

const shown = {
  bank_name: request.bank_name,
  bank_country_code: request.bank_country,
  account_holder: request.account_holder,
  account_currency_code: request.account_currency,
  account_number: request.account_number,
  iban: request.iban,
  swift_code: request.swift_code,
  clearing_system: "",
  routing_code_type1: "blz",
  routing_code_value1: "37040044",
  routing_code_type2: "",
  routing_code_value2: "",
};

const as = (details: object, beside: object = {}) => ({
  beneficiary_bank_details: { ...shown, ...details },
  ...beside,
});

describe("a beneficiary that the service shows", () => {
  it.each([
    {},
    { iban: "de89 3704 0044 0532 0130 00" },
    { swift_code: "COBADEFFXXX" },
    { account_holder: request.account_holder.toUpperCase() },
  ])("is the one that was sent: %j", (details) => {
    expect(contradictedField(request, as(details))).toBeUndefined();
  });

  it.each([
    ["iban", { iban: "GB29NWBK60161331926819" }],
    ["iban", { iban: "NL91ABNA0417164300" }],
    ["account_number", { account_number: "31926819" }],
    ["swift_code", { swift_code: "EVILUS99" }],
    ["routing_code_value1", { routing_code_value1: "999999999" }],
    ["account_currency", { account_currency_code: "EUR" }],
    ["bank_country", { bank_country_code: "GB" }],
    ["account_holder", { account_holder: "Mallory" }],
  ])("is another one, by its %s: %j", (field, details) => {
    expect(contradictedField(request, as(details))).toBe(field);
  });

  it.each([
    ["iban", { iban: "" }],
    ["iban", { iban: "****3000" }],
    ["iban", { iban: "3000" }],
    ["account_number", { account_number: "123456789" }],
    ["swift_code", { swift_code: "" }],
    ["clearing_system", { clearing_system: "ACH" }],
    ["routing_code_value2", { routing_code_value2: "1" }],
    ["bank_country", { bank_country_code: "Germany" }],
    ["account_holder", { account_holder: "E*** S*** GmbH" }],
    ["bank_name", { bank_name: "Evil Bank" }],
  ])("is not contradicted by its %s: %j", (_field, details) => {
    expect(contradictedField(request, as(details))).toBeUndefined();
  });

  it("is another one by what stands beside the details of its bank, too", () => {
    const beside = { account_number: "31926819" };
    expect(contradictedField(request, as({}, beside))).toBe("account_number");
  });
});
