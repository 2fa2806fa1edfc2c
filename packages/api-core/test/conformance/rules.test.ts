import { describe, expect, it } from "vitest";
import { checkInput } from "../../src/contract.ts";
import type { OperationName } from "../../src/effect.ts";
import { clientFor, exchange, failureOf } from "../support/client.ts";
import { expectFault, expectRight, faultsOf } from "../support/faults.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { startServer, success } from "../support/server.ts";

const IBAN_COUNTRIES =
  "AD AT BE BG CY HR CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT MC NL NO PL PT RO SM SK SI ES SE CH GB VA".split(
    " ",
  );

const IBAN = "DE89370400440532013000";

describe("createBeneficiary", () => {
  it("asks for an IBAN in the document's 36 countries, for EUR and USD", () => {
    expect(IBAN_COUNTRIES).toHaveLength(36);
    const because = "is required for this bank_country and account_currency";
    for (const bank_country of [...IBAN_COUNTRIES, "de"]) {
      for (const account_currency of ["EUR", "USD", "eur"]) {
        const there = { bank_country, account_currency };
        expectFault("createBeneficiary", { ...there, iban: " " }, "iban", because);
        // The account number is asked for only if no IBAN is.
        expectRight("createBeneficiary", { ...there, iban: IBAN, account_number: undefined });
      }
    }
  });

  it.each([
    ["DE", "GBP"],
    ["US", "USD"],
    ["TR", "EUR"],
  ])("asks for an account number instead in %s for %s", (bank_country, account_currency) => {
    const there = { bank_country, account_currency };
    expectRight("createBeneficiary", there);
    expectRight("createBeneficiary", { ...there, iban: IBAN });
    const problem = "is required for this bank_country and account_currency";
    const without = { ...there, account_number: undefined };
    expectFault("createBeneficiary", without, "account_number", problem);
  });

  it("checks country, length and check digits of an IBAN, however it is written", () => {
    for (const iban of [IBAN, "de89 3704 0044 0532 0130 00", "GB29NWBK60161331926819"]) {
      expectRight("createBeneficiary", { iban });
    }
    const problem = "is not a valid IBAN: its country, length or check digits are wrong";
    for (const iban of ["DE00BAD", "DE89370400440532013001", "DE8937040044053201300", "X1"]) {
      expectFault("createBeneficiary", { iban }, "iban", problem);
    }
  });

  it("asks for the names of a person or of a company", () => {
    for (const field of ["first_name", "last_name"]) {
      for (const value of [undefined, "  "]) {
        const problem = "is required for an individual";
        expectFault("createBeneficiary", { [field]: value }, field, problem);
      }
    }
    const company = { entity_type: "company", first_name: undefined, last_name: undefined };
    expectRight("createBeneficiary", { ...company, company_name: "Engines" });
    expectFault("createBeneficiary", company, "company_name", "is required for a company");
  });

  it.each([1, 2])("asks for routing_code_type%i with its value", (n) => {
    const [type, value] = [`routing_code_type${n}`, `routing_code_value${n}`];
    expectRight("createBeneficiary", { [type]: "aba", [value]: "021000021" });
    expectRight("createBeneficiary", { [type]: "aba" });
    const problem = `is required with routing_code_value${n}`;
    expectFault("createBeneficiary", { [type]: "", [value]: "021000021" }, type, problem);
  });
});

it.each(["createBeneficiary", "updateBeneficiary"] as const)(
  "%s: company_name must not consist only of digits",
  (name) => {
    for (const company_name of ["3M", "7 7", "7-11"]) expectRight(name, { company_name });
    for (const company_name of ["7", "0123456789"]) {
      expectFault(name, { company_name }, "company_name", "must not consist only of digits");
    }
  },
);

describe("createPayout", () => {
  const PAYERS = {
    individual: {
      identity: { first_name: "Ada", last_name: "Lovelace", birth_date: "1990-12-10" },
      documents: ["passport", "drivers_license", "national_id"],
    },
    company: { identity: { company_name: "Engines" }, documents: ["incorporation_number"] },
  };

  it.each(Object.entries(PAYERS))("asks for what identifies a payer: %s", (entity_type, payer) => {
    const request = { entity_type, ...payer.identity };
    expectRight("createPayout", request);
    for (const field of Object.keys(payer.identity)) {
      const problem = `is required for entity_type ${entity_type}`;
      expectFault("createPayout", { ...request, [field]: undefined }, field, problem);
    }
    for (const identification_type of Object.values(PAYERS).flatMap(({ documents }) => documents)) {
      const faults = faultsOf("createPayout", { ...request, identification_type });
      expect(faults.map(({ field }) => field)).toStrictEqual(
        payer.documents.includes(identification_type) ? [] : ["identification_type"],
      );
    }
  });

  it.each([
    ["jpy", 0],
    ["CLP", 0],
    ["USD", 2],
    // People write these without a smaller unit; they have one all the same.
    ["HUF", 2],
    ["XXX", 2],
    ["KWD", 3],
    ["CLF", 4],
  ])("takes an amount in %s with at most %i digits after the point", (currency, most) => {
    if (most > 0) expectRight("createPayout", { currency, amount: `1.${"5".repeat(most)}` });
    const problem = `has ${most + 1} decimal places; ${currency.toUpperCase()} has ${most}`;
    expectFault(
      "createPayout",
      { currency, amount: `1.${"0".repeat(most + 1)}` },
      "amount",
      problem,
    );
  });
});

it.each([
  ["withdrawFromCard", "amount"],
  ["createCard", "card_limit"],
] as const)("%s: %s is in USD, the currency of cards", (name, field) => {
  expectFault(name, { [field]: "1.250" }, field, "has 3 decimal places; USD has 2");
});

it.each([
  ["createPayout", "amount"],
  ["withdrawFromCard", "amount"],
  ["createCard", "card_limit"],
] as const)("%s: %s is a decimal text, and no number", (name, field) => {
  expect(faultsOf(name, { [field]: 100 })).toMatchObject([{ field }]);
});

it("listTransactions spans at most 30 days, listPayouts any number", () => {
  const days = (n: number) => 1000 + n * 86_400_000;
  for (const range of [{ start: 1000 }, { end: 1000 }, { start: 1000, end: days(30) }]) {
    expectRight("listTransactions", range);
  }
  const problem = "must be at most 30 days after start";
  expectFault("listTransactions", { start: 1000, end: days(30) + 1 }, "end", problem);
  expectFault("listTransactions", { start: 1000, end: 999 }, "end", "must not be before start");
  expectRight("listPayouts", { start: 1000, end: days(300) });
});

describe("what is sent", () => {
  const SENT: ReadonlyArray<readonly [OperationName, object, object]> = [
    ["createBeneficiary", { bank_country: "us", country_code: "gb" }, { country_code: "GB" }],
    ["createPayout", { currency: "usd", country: "fr" }, { currency: "USD", country: "FR" }],
    ["createBalance", { currency: "usd" }, { currency: "USD" }],
    ["createBalance", { currency: "usdt" }, { currency: "usdt" }],
    ["createCard", { card_limit: "100.10" }, { card_limit: 100.1 }],
    ["createCard", { card_limit: "0" }, { card_limit: 0 }],
  ];
  it.each(SENT)("%s: codes in capitals, card_limit as a number: %o", async (name, input, body) => {
    const { sent } = await exchange(name, { ...requests[name], ...input }, answers[name]);
    expect(JSON.parse(sent.body)).toMatchObject(body);
  });
});

describe("a wrong request", () => {
  it("has every fault named, of fields, rules and unknown fields, each field once", () => {
    const faults = checkInput("createBeneficiary", {
      ...requests.createBeneficiary,
      bank_country: "DE",
      nickname: "",
      first_name: undefined,
      last_name: "x".repeat(46),
      company_name: "77",
      routing_code_value1: "1",
      ibann: "DE89370400440532013000",
    });
    expect(faults.toSorted((a, b) => a.field.localeCompare(b.field))).toStrictEqual([
      { field: "company_name", problem: "must not consist only of digits" },
      { field: "first_name", problem: "is required for an individual" },
      { field: "iban", problem: "is required for this bank_country and account_currency" },
      { field: "ibann", problem: "is not a field of this operation (did you mean iban?)" },
      { field: "last_name", problem: "must have at most 45 characters" },
      { field: "nickname", problem: "must have 1 to 120 characters" },
      { field: "routing_code_type1", problem: "is required with routing_code_value1" },
    ]);
    const ofBoth = faultsOf("updateBeneficiary", { beneficiary_id: "a/b", city: "" });
    expect(ofBoth.map(({ field }) => field)).toStrictEqual(["beneficiary_id", "city"]);
  });

  it("may miss the fields of an earlier step", () => {
    const { card_holder_id: _, ...card } = requests.createCard;
    expect(checkInput("createCard", card)).toHaveLength(1);
    expect(checkInput("createCard", card, { later: ["card_holder_id"] })).toStrictEqual([]);
  });

  it("fails without a connection, and never repeats a value", async () => {
    await using server = await startServer(() => success());
    await using client = clientFor(server.url);
    const secret = "DE89370400440532013000";
    const error = await failureOf(
      client.createPayout({ ...requests.createPayout, currency: secret, amount: "-4000001234567" }),
    );
    expect(error).toMatchObject({
      _tag: "InvalidRequest",
      operation: "createPayout",
      carriedOut: "no",
      message:
        "createPayout: currency must be a three-letter currency code, such as USD; " +
        'amount must be a decimal amount above zero in plain notation, such as "100.00". createPayout was not sent.',
    });
    const written = JSON.stringify(error) + error.message + (error.stack ?? "");
    expect(written).not.toContain(secret);
    expect(written).not.toContain("4000001234567");
    expect(server.connections()).toBe(0);
  });
});
