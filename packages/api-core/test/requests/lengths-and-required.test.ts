import { describe, expect, it } from "vitest";
import { type OperationName, operationNames } from "../../src/index.ts";
import { checkInput } from "../../src/contract.ts";
import { expectFault, expectRight, faultsOf } from "../support/faults.ts";
import { requests } from "../support/requests.ts";

/** From the document: the fields that must be given, and the longest text of each that has a limit. */
const REQUIRED: { readonly [Name in OperationName]: ReadonlyArray<readonly [string, number?]> } = {
  ping: [],
  createBeneficiary: [
    ["bank_country"],
    ["account_currency"],
    ["entity_type"],
    ["email"],
    ["nickname", 120],
    ["payment_method"],
    ["bank_name", 240],
    ["bank_address", 240],
    ["account_holder", 36],
    ["country_code"],
    ["city", 36],
    ["state", 96],
    ["address", 255],
    ["postal_code", 12],
  ],
  updateBeneficiary: [
    ["beneficiary_id"],
    ["bank_country"],
    ["account_currency"],
    ["entity_type"],
    ["email"],
    ["nickname", 120],
    ["payment_method"],
    ["bank_name", 240],
    ["bank_address", 240],
    ["account_holder", 36],
    ["account_number", 60],
    ["clearing_system", 30],
    ["country_code"],
    ["city", 36],
    ["state", 96],
    ["address", 255],
    ["postal_code", 12],
  ],
  retrieveBeneficiary: [["beneficiary_id"]],
  createPayout: [
    ["currency"],
    ["amount"],
    ["payout_reason"],
    ["payment_date"],
    ["beneficiary_id"],
    ["is_payer"],
  ],
  listPayouts: [["page_num"], ["page_size"]],
  retrievePayout: [["payout_id"]],
  listPayers: [],
  createBalance: [["currency"], ["name", 60]],
  retrieveBalance: [["currency"]],
  retrieveBalanceBankDetails: [["currency"]],
  listTransactions: [["page_num"], ["page_size"]],
  createCardholder: [
    ["email"],
    ["first_name", 50],
    ["last_name", 50],
    ["date_birth"],
    ["phone_number", 50],
    ["card_holder_status"],
  ],
  listCardholders: [["page_num"], ["page_size"]],
  removeCardholder: [["card_holder_id"]],
  createCard: [
    ["card_holder_id"],
    ["product_code"],
    ["balance_id"],
    ["card_limit"],
    ["unique_request_id", 36],
  ],
  withdrawFromCard: [["card_id"], ["card_number"], ["amount"], ["unique_request_id", 36]],
  updateCard: [["card_id"], ["card_name"]],
  cancelCard: [["card_id"]],
  freezeCard: [["card_id"]],
};

/** From the document: fields that may be left out, with their longest text. */
const OPTIONAL: ReadonlyArray<readonly [OperationName, string, number]> = [
  ["createBeneficiary", "first_name", 45],
  ["createBeneficiary", "last_name", 45],
  ["createBeneficiary", "company_name", 120],
  ["createBeneficiary", "account_number", 60],
  ["createBeneficiary", "swift_code", 30],
  ["createBeneficiary", "clearing_system", 30],
  ["updateBeneficiary", "first_name", 45],
  ["updateBeneficiary", "last_name", 45],
  ["updateBeneficiary", "company_name", 120],
  ["updateBeneficiary", "swift_code", 30],
  ["listPayouts", "short_reference_id", 36],
  ["createPayout", "unique_request_id", 36],
];

/** Of those that must be given: fields that may be empty all the same. */
const MAY_BE_EMPTY: Partial<Record<OperationName, ReadonlyArray<string>>> = {
  createBeneficiary: ["bank_address", "state", "postal_code"],
  updateBeneficiary: ["bank_address", "state", "postal_code", "account_number", "clearing_system"],
};

const mayBeEmpty = (name: OperationName, field: string): boolean =>
  MAY_BE_EMPTY[name]?.includes(field) === true;

describe.each(operationNames)("%s", (name) => {
  it("accepts the request that the document describes", () => {
    expectRight(name);
  });

  it("names every missing field at once", () => {
    const missing = Object.fromEntries(REQUIRED[name].map(([field]) => [field, undefined]));
    const faults = faultsOf(name, missing);
    for (const [field] of REQUIRED[name]) {
      expect(faults).toContainEqual({ field, problem: "is required" });
    }
  });

  it("refuses a field that it does not have", () => {
    expectFault(name, { surprise: 1 }, "surprise", "is not a field of this operation");
  });

  it.each([[null], ["text"], [7], [[]], [true]])("refuses %j instead of fields", (input) => {
    expect(checkInput(name, input)).toContainEqual({
      field: "",
      problem: "must be an object of fields",
    });
  });
});

const limited = [
  ...operationNames.flatMap((name) =>
    REQUIRED[name].flatMap(([field, most]) =>
      most === undefined ? [] : [[name, field, most, !mayBeEmpty(name, field)] as const],
    ),
  ),
  ...OPTIONAL.map(([name, field, most]) => [name, field, most, false] as const),
];

it.each(limited)("%s: %s has at most %i characters", (name, field, most, isRequired) => {
  expectRight(name, { [field]: "x".repeat(most) });
  const [fault, ...others] = faultsOf(name, { [field]: "x".repeat(most + 1) });
  expect(others).toStrictEqual([]);
  expect(fault?.field).toBe(field);
  expect(fault?.problem).toMatch(
    isRequired || field === "short_reference_id" || field === "unique_request_id"
      ? `must have 1 to ${most} characters`
      : `must have at most ${most} characters`,
  );
});

const texts = operationNames.flatMap((name) =>
  REQUIRED[name].flatMap(([field]) =>
    typeof (requests[name] as Record<string, unknown>)[field] === "string"
      ? [[name, field] as const]
      : [],
  ),
);

it.each(texts.filter(([name, field]) => !mayBeEmpty(name, field)))(
  "%s: %s must not be empty",
  (name, field) => {
    expect(faultsOf(name, { [field]: "" }).map((fault) => fault.field)).toStrictEqual([field]);
  },
);

it.each(texts.filter(([, field]) => field.endsWith("_id") && field !== "unique_request_id"))(
  "%s: %s must not be blank",
  (name, field) => {
    expect(faultsOf(name, { [field]: " \t" }).map((fault) => fault.field)).toStrictEqual([field]);
  },
);

it.each(texts)("%s: %s must be a text", (name, field) => {
  expect(faultsOf(name, { [field]: true }).map((fault) => fault.field)).toStrictEqual([field]);
  expect(faultsOf(name, { [field]: null }).map((fault) => fault.field)).toStrictEqual([field]);
});
