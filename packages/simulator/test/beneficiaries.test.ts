import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../src/index.ts";
import { beneficiary } from "./support/bodies.ts";
import { anId } from "./support/like.ts";
import { type Client, signedIn } from "./support/raw-client.ts";
import { createBeneficiary } from "./support/steps.ts";

let simulator: Simulator;
let client: Client;
beforeAll(async () => {
  simulator = await startSimulator();
  client = await signedIn(simulator);
});
afterAll(() => simulator.stop());

const create = (changes: Record<string, unknown>) =>
  client.post("/api/v1/beneficiaries/create", { ...beneficiary, ...changes });

describe("create", () => {
  it("answers bank details and address as JSON texts, and the account on top", async () => {
    const { body, status } = await create({});
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      beneficiary_id: anId,
      beneficiary_status: "pending",
      entity_type: "individual",
      account_number: "000123456789",
      account_currency_code: "USD",
    });
    expect(JSON.parse(body.data.beneficiary_bank_details)).toMatchObject({
      bank_name: "First Bank",
      account_number: "000123456789",
      routing_code_type1: "aba",
      routing_code_value2: "",
      iban: "",
    });
    expect(JSON.parse(body.data.beneficiary_address)).toEqual({
      country_code: "US",
      city: "New York",
      street_address: "2 Main Street",
      postal_code: "10001",
      state: "NY",
    });
  });

  it("names every field that is wrong", async () => {
    const { body } = await create({ email: undefined, city: "", postal_code: "x".repeat(13) });
    expect(body.message).toBe(
      "email: is required; city: must have 1 to 36 characters; postal_code: must have at most 12 characters",
    );
  });
});

describe("retrieve", () => {
  it("answers bank details and address as objects, with a summary", async () => {
    const id = await createBeneficiary(client);
    const { body } = await client.get(`/api/v1/beneficiaries/${id}`);
    expect(body).toMatchObject({
      code: 200,
      message: "Success",
      data: {
        beneficiary_id: id,
        beneficiary_summary: "Ada Lovelace, USD account ending in 6789",
        beneficiary_bank_details: { account_holder: "Ada Lovelace" },
        beneficiary_address: { city: "New York" },
      },
    });
  });
});

describe("update", () => {
  const {
    first_name: _f,
    last_name: _l,
    routing_code_type1: _t,
    routing_code_value1: _v,
    ...update
  } = beneficiary;

  it("changes what it names, keeps the rest, and confirms without data", async () => {
    const id = await createBeneficiary(client);
    const { body } = await client.post(`/api/v1/beneficiaries/${id}/update`, {
      ...update,
      city: "Boston",
    });
    expect(body).toEqual({ code: 200, message: "Success" });
    const after = await client.get(`/api/v1/beneficiaries/${id}`);
    expect(after.body.data).toMatchObject({
      beneficiary_address: { city: "Boston" },
      beneficiary_first_name: "Ada",
    });
  });

  it("refuses an unknown id, and a body without account number or clearing system", async () => {
    const unknown = await client.post("/api/v1/beneficiaries/none/update", update);
    expect(unknown.body.message).toBe("Beneficiary not found");
    const { account_number: _a, clearing_system: _c, ...less } = update;
    const incomplete = await client.post("/api/v1/beneficiaries/none/update", less);
    expect(incomplete.body.message).toBe(
      "account_number: is required; clearing_system: is required",
    );
  });
});
