import { describe, expect, it } from "vitest";
import { exchange } from "../support/client.ts";
import { success } from "../support/server.ts";

const company = {
  payer_id: "5d2a90c1-3b6e-4b0f-9a51-2f1f6c1d8e22",
  entity_type: "company",
  company_name: "Engines Ltd",
  first_name: "",
  last_name: "",
  address: "1 Ring",
  city: "London",
  state_or_province: "",
  country: "GB",
  postal_code: "N1",
  date_of_birth: "",
  identification_type: "incorporation_number",
  identification_value: "09876543",
};
const person = {
  payer_id: "6d2a90c1-3b6e-4b0f-9a51-2f1f6c1d8e22",
  entity_type: "individual",
  first_name: "Ada",
  last_name: "Lovelace",
  date_of_birth: "1990-12-10",
};
const readCompany = {
  payer_id: "5d2a90c1-3b6e-4b0f-9a51-2f1f6c1d8e22",
  entity_type: "company",
  company_name: "Engines Ltd",
  address: "1 Ring",
  city: "London",
  country: "GB",
  postal_code: "N1",
  identification_type: "incorporation_number",
  identification_value: "09876543",
};

describe("listPayers", () => {
  it.each<[string, unknown, ReadonlyArray<unknown>]>([
    ["a plain array", [company, person], [readCompany, person]],
    [
      "the sample's envelope inside the array",
      [{ code: 200, message: "Success", data: [company, person] }],
      [readCompany, person],
    ],
    [
      "an envelope with one payer",
      [{ code: 200, message: "Success", data: company }],
      [readCompany],
    ],
    ["both, mixed", [{ code: 200, data: [company] }, person], [readCompany, person]],
    ["a payer with a field called data", [{ ...person, data: "x" }], [person]],
    ["an empty array", [], []],
    ["an envelope with no payers", [{ code: 200, message: "Success", data: [] }], []],
    ["an envelope with null", [{ code: 200, message: "Success", data: null }], []],
    ["null", null, []],
  ])("reads %s", async (_, data, payers) => {
    const { result, sent } = await exchange("listPayers", undefined, {
      body: { code: 200, message: "Success", data },
    });
    expect(sent).toMatchObject({ method: "GET", path: "/api/v1/payers", query: {}, body: "" });
    expect(result).toStrictEqual(payers);
  });
});

describe("createBalance", () => {
  it("sends currency and name, and reads a bare confirmation", async () => {
    const { result, sent } = await exchange(
      "createBalance",
      { currency: "USD", name: "Main" },
      success(),
    );
    expect(sent).toMatchObject({ method: "POST", path: "/api/v1/balances/create", query: {} });
    expect(JSON.parse(sent.body)).toStrictEqual({ currency: "USD", name: "Main" });
    expect(result).toBeUndefined();
  });
});

describe("retrieveBalance", () => {
  it.each([
    ["text", "1234.50", "1234.50"],
    ["a number", 1234.5, "1234.5"],
    ["the largest text", "99999999999999999999.99", "99999999999999999999.99"],
  ])("reads a balance written as %s", async (_, available_balance, read) => {
    const { result, sent } = await exchange(
      "retrieveBalance",
      { currency: "USD" },
      success({ balance_id: "b-1", currency: "USD", available_balance, updated: true }),
    );
    expect(sent).toMatchObject({
      method: "GET",
      path: "/api/v1/balances/retrieve/USD",
      query: {},
      body: "",
    });
    expect(result).toStrictEqual({ balance_id: "b-1", currency: "USD", available_balance: read });
  });
});

describe("retrieveBalanceBankDetails", () => {
  const account = {
    account_bank_id: "1",
    account_id: "2",
    account_holder: "Engines Ltd",
    account_number: "000123456789",
    bank_name: "First Bank",
    bank_code: "7144",
    bank_address: "1 Main Street",
    country_code: "SG",
    currency_code: "USD",
    clearing_system_type: "Faster Payments",
    clearing_system_code: "FPS",
    payment_reference: "REF-1",
  };

  it("reads local and SWIFT accounts, with types that the document does not list", async () => {
    const { result, sent } = await exchange(
      "retrieveBalanceBankDetails",
      { currency: "USD" },
      success({
        local: [account, { account_id: 3, clearing_system_type: "Something new", bank_code: "" }],
        swift: [],
        status: "opened",
      }),
    );
    expect(sent).toMatchObject({
      method: "GET",
      path: "/api/v1/balances/USD/bank_details",
      query: {},
      body: "",
    });
    expect(result).toStrictEqual({
      local: [account, { account_id: "3", clearing_system_type: "Something new" }],
      swift: [],
      status: "opened",
    });
  });

  it("reads missing and null lists as no accounts", async () => {
    const { result } = await exchange(
      "retrieveBalanceBankDetails",
      { currency: "USD" },
      success({ local: null }),
    );
    expect(result).toStrictEqual({ local: [], swift: [] });
  });
});
