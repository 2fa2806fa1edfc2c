import { describe, expect, it } from "vitest";
import { exchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { success } from "../support/server.ts";

const id = "7b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a01";

describe("createBeneficiary", () => {
  it("sends every field of the document and reads the create shape", async () => {
    const request = {
      bank_country: "DE",
      account_currency: "EUR",
      entity_type: "company",
      email: "pay@engines.example",
      nickname: "Engines",
      first_name: "Ada",
      last_name: "Lovelace",
      company_name: "Engines GmbH 7",
      payment_method: "swift",
      bank_name: "Erste Bank",
      bank_address: "Ring 1",
      account_holder: "Engines GmbH",
      account_number: "532013000",
      iban: "DE89370400440532013000",
      swift_code: "COBADEFFXXX",
      clearing_system: "SEPA",
      routing_code_type1: "sort_code",
      routing_code_value1: "370400",
      routing_code_type2: "branch",
      routing_code_value2: "44",
      country_code: "DE",
      city: "Berlin",
      state: "Berlin",
      address: "Allee 2",
      postal_code: "10115",
    };
    const { result, sent } = await exchange(
      "createBeneficiary",
      request,
      success({
        beneficiary_id: id,
        entity_type: "company",
        payment_method: "swift",
        beneficiary_email: "pay@engines.example",
        beneficiary_nickname: "Engines",
        beneficiary_company_name: "Engines GmbH 7",
        beneficiary_first_name: "",
        beneficiary_last_name: "",
        account_number: "532013000",
        account_currency_code: "EUR",
        bank_country_code: "DE",
        beneficiary_status: "pending",
        beneficiary_bank_details:
          '{"bank_name":"Erste Bank","bank_address":"Ring 1","bank_country_code":"DE",' +
          '"account_holder":"Engines GmbH","account_currency_code":"EUR","account_number":"532013000",' +
          '"iban":"DE89370400440532013000","swift_code":"COBADEFFXXX","clearing_system":"SEPA",' +
          '"routing_code_type1":"sort_code","routing_code_value1":"370400",' +
          '"routing_code_type2":"","routing_code_value2":""}',
        beneficiary_address:
          '{"country_code":"DE","city":"Berlin","street_address":"Allee 2","postal_code":"10115","state":"Berlin"}',
      }),
    );
    expect(sent).toMatchObject({
      method: "POST",
      path: "/api/v1/beneficiaries/create",
      query: {},
    });
    expect(sent.headers).toMatchObject({
      "content-type": "application/json",
      "x-client-id": "client-7",
      "x-auth-token": "Bearer token-1",
    });
    expect(JSON.parse(sent.body)).toStrictEqual(request);
    expect(result).toStrictEqual({
      beneficiary_id: id,
      entity_type: "company",
      payment_method: "swift",
      beneficiary_email: "pay@engines.example",
      beneficiary_nickname: "Engines",
      beneficiary_company_name: "Engines GmbH 7",
      account_number: "532013000",
      account_currency_code: "EUR",
      bank_country_code: "DE",
      beneficiary_status: "pending",
      beneficiary_bank_details: {
        bank_name: "Erste Bank",
        bank_address: "Ring 1",
        bank_country_code: "DE",
        account_holder: "Engines GmbH",
        account_currency_code: "EUR",
        account_number: "532013000",
        iban: "DE89370400440532013000",
        swift_code: "COBADEFFXXX",
        clearing_system: "SEPA",
        routing_code_type1: "sort_code",
        routing_code_value1: "370400",
      },
      beneficiary_address: {
        country_code: "DE",
        city: "Berlin",
        street_address: "Allee 2",
        postal_code: "10115",
        state: "Berlin",
      },
    });
  });

  it.each([
    ["no JSON", "not json"],
    ["an empty text", ""],
    ["null", null],
    ["null as text", "null"],
    ["a list", "[]"],
    ["a number", 7],
  ])("keeps the id of what was created where the details are %s", async (_, details) => {
    const { result } = await exchange(
      "createBeneficiary",
      requests.createBeneficiary,
      success({
        beneficiary_id: id,
        beneficiary_status: "on_hold",
        beneficiary_bank_details: details,
        beneficiary_address: details,
      }),
    );
    expect(result).toStrictEqual({ beneficiary_id: id, beneficiary_status: "on_hold" });
  });

  it("takes details that are objects already", async () => {
    const { result } = await exchange(
      "createBeneficiary",
      requests.createBeneficiary,
      success({ beneficiary_id: id, beneficiary_address: { city: "Berlin", floor: 3 } }),
    );
    expect(result).toStrictEqual({ beneficiary_id: id, beneficiary_address: { city: "Berlin" } });
  });
});

describe("updateBeneficiary", () => {
  it("sends the id in the path and the rest in the body, and reads a bare confirmation", async () => {
    const { beneficiary_id: _, ...body } = requests.updateBeneficiary;
    const { result, sent } = await exchange(
      "updateBeneficiary",
      requests.updateBeneficiary,
      success(),
    );
    expect(sent).toMatchObject({ method: "POST", path: `/api/v1/beneficiaries/${id}/update` });
    expect(sent.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(sent.body)).toStrictEqual(body);
    expect(result).toBeUndefined();
  });

  it("takes the optional fields and ignores data that comes along", async () => {
    const optional = {
      first_name: "Ada",
      last_name: "Lovelace",
      company_name: "Engines",
      swift_code: "COBADEFF",
    };
    const { result, sent } = await exchange(
      "updateBeneficiary",
      { ...requests.updateBeneficiary, ...optional },
      success({ anything: true }),
    );
    expect(JSON.parse(sent.body)).toMatchObject(optional);
    expect(result).toBeUndefined();
  });
});

describe("retrieveBeneficiary", () => {
  it("reads the retrieve shape: details are objects, empty texts are unset", async () => {
    const { result, sent } = await exchange(
      "retrieveBeneficiary",
      { beneficiary_id: id },
      success({
        beneficiary_id: id,
        entity_type: "individual",
        payment_method: "local",
        beneficiary_email: "ada@example.com",
        beneficiary_nickname: "Ada",
        beneficiary_company_name: "",
        beneficiary_first_name: "Ada",
        beneficiary_last_name: "Lovelace",
        beneficiary_summary: "Ada, USD, 6789",
        account_currency_code: "USD",
        bank_country_code: "US",
        beneficiary_bank_details: {
          bank_name: "First Bank",
          bank_address: "1 Main Street",
          bank_country_code: "US",
          account_holder: "Ada Lovelace",
          account_currency_code: "USD",
          account_number: "000123456789",
          iban: "",
          swift_code: "",
          clearing_system: "ACH",
          routing_code_type1: "aba",
          routing_code_value1: "021000021",
          routing_code_type2: null,
        },
        beneficiary_address: {
          country_code: "US",
          city: "Austin",
          street_address: "2 Main Street",
          postal_code: 73301,
          state: "TX",
        },
        unknown_extra: { deep: [1] },
      }),
    );
    expect(sent).toMatchObject({
      method: "GET",
      path: `/api/v1/beneficiaries/${id}`,
      query: {},
      body: "",
    });
    expect(result).toStrictEqual({
      beneficiary_id: id,
      entity_type: "individual",
      payment_method: "local",
      beneficiary_email: "ada@example.com",
      beneficiary_nickname: "Ada",
      beneficiary_first_name: "Ada",
      beneficiary_last_name: "Lovelace",
      beneficiary_summary: "Ada, USD, 6789",
      account_currency_code: "USD",
      bank_country_code: "US",
      beneficiary_bank_details: {
        bank_name: "First Bank",
        bank_address: "1 Main Street",
        bank_country_code: "US",
        account_holder: "Ada Lovelace",
        account_currency_code: "USD",
        account_number: "000123456789",
        clearing_system: "ACH",
        routing_code_type1: "aba",
        routing_code_value1: "021000021",
      },
      beneficiary_address: {
        country_code: "US",
        city: "Austin",
        street_address: "2 Main Street",
        postal_code: "73301",
        state: "TX",
      },
    });
  });

  it("gives the very value that the create shape gives", async () => {
    const fields = {
      beneficiary_id: id,
      beneficiary_email: "ada@example.com",
      account_currency_code: "USD",
    };
    const created = await exchange(
      "createBeneficiary",
      requests.createBeneficiary,
      success({
        ...fields,
        beneficiary_bank_details: '{"bank_name":"First Bank","iban":""}',
        beneficiary_address: '{"city":"Austin","state":""}',
      }),
    );
    const retrieved = await exchange(
      "retrieveBeneficiary",
      { beneficiary_id: id },
      success({
        ...fields,
        beneficiary_bank_details: { bank_name: "First Bank", iban: "" },
        beneficiary_address: { city: "Austin", state: "" },
      }),
    );
    expect(retrieved.result).toStrictEqual(created.result);
    expect(retrieved.result).toStrictEqual({
      ...fields,
      beneficiary_bank_details: { bank_name: "First Bank" },
      beneficiary_address: { city: "Austin" },
    });
  });
});
