import { describe, expect, it } from "vitest";
import { checkInput } from "../../src/contract.ts";
import { clientFor, failureOf } from "../support/client.ts";
import { expectFault, expectRight, faultsOf } from "../support/faults.ts";
import { requests } from "../support/requests.ts";
import { startServer, success } from "../support/server.ts";

const IBAN_COUNTRIES =
  "AD AT BE BG CY HR CZ DK EE FI FR DE GR HU IS IE IT LV LI LT LU MT MC NL NO PL PT RO SM SK SI ES SE CH GB VA".split(
    " ",
  );

const IBAN = "DE89370400440532013000";

describe("createBeneficiary", () => {
  const because = "is required for this bank_country and account_currency";

  it("asks for an IBAN in the document's 36 countries, for EUR and USD", () => {
    expect(IBAN_COUNTRIES).toHaveLength(36);
    for (const bank_country of IBAN_COUNTRIES) {
      for (const account_currency of ["EUR", "USD"]) {
        const there = { bank_country, account_currency };
        expectFault("createBeneficiary", there, "iban", because);
        expectFault("createBeneficiary", { ...there, iban: " " }, "iban", because);
        expectRight("createBeneficiary", { ...there, iban: IBAN });
        // The account number is asked for only where no IBAN is.
        expectRight("createBeneficiary", { ...there, iban: IBAN, account_number: undefined });
      }
    }
  });

  it.each([
    "DE00BAD",
    "DE89370400440532013001",
    "DE8937040044053201300",
    "XX89370400440532013000",
    "DEXX370400440532013000",
    "X1",
  ])("takes no IBAN whose country, length or check digits do not fit: %s", (iban) => {
    const problem = "is no IBAN: its country, length or check digits do not fit";
    expectFault("createBeneficiary", { iban }, "iban", problem);
  });

  it.each([IBAN, "de89 3704 0044 0532 0130 00", "GB29NWBK60161331926819", "NO9386011117947"])(
    "takes an IBAN however it is written: %s",
    (iban) => expectRight("createBeneficiary", { iban }),
  );

  it.each([
    ["DE", "GBP"],
    ["GB", "GBP"],
    ["US", "USD"],
    ["US", "EUR"],
    ["TR", "EUR"],
    ["SG", "USD"],
  ])("asks for an account number instead in %s for %s", (bank_country, account_currency) => {
    const there = { bank_country, account_currency };
    expectRight("createBeneficiary", there);
    expectRight("createBeneficiary", { ...there, iban: IBAN });
    expectFault(
      "createBeneficiary",
      { ...there, account_number: undefined },
      "account_number",
      "is required where no iban is required",
    );
  });

  it("asks for the names of a person", () => {
    for (const field of ["first_name", "last_name"]) {
      for (const value of [undefined, "", "  "]) {
        expectFault(
          "createBeneficiary",
          { [field]: value },
          field,
          "is required for an individual",
        );
      }
    }
    expectRight("createBeneficiary", { company_name: undefined });
  });

  it("asks for the name of a company", () => {
    const company = { entity_type: "company", first_name: undefined, last_name: undefined };
    expectRight("createBeneficiary", { ...company, company_name: "Engines" });
    for (const company_name of [undefined, ""]) {
      expectFault(
        "createBeneficiary",
        { ...company, company_name },
        "company_name",
        "is required for a company",
      );
    }
  });

  it.each(["createBeneficiary", "updateBeneficiary"] as const)(
    "%s: company_name must not consist only of digits",
    (name) => {
      for (const company_name of ["3M", "7 7", "7-11", "Engines"]) {
        expectRight(name, { company_name });
      }
      for (const company_name of ["7", "0123456789"]) {
        expectFault(name, { company_name }, "company_name", "must not consist only of digits");
      }
    },
  );

  it.each([1, 2])("asks for routing_code_type%i with its value", (n) => {
    const [type, value] = [`routing_code_type${n}`, `routing_code_value${n}`];
    expectRight("createBeneficiary", { [type]: "aba", [value]: "021000021" });
    expectRight("createBeneficiary", { [type]: "aba" });
    expectFault(
      "createBeneficiary",
      { [value]: "021000021" },
      type,
      `is required with routing_code_value${n}`,
    );
    expectFault(
      "createBeneficiary",
      { [type]: "", [value]: "021000021" },
      type,
      `is required with routing_code_value${n}`,
    );
  });
});

describe("updateBeneficiary", () => {
  it("has neither IBAN nor routing codes, and asks for no names", () => {
    expectRight("updateBeneficiary", { entity_type: "individual" });
    for (const field of ["iban", "routing_code_type1", "routing_code_value2"]) {
      expectFault("updateBeneficiary", { [field]: "x" }, field, "is not a field of this operation");
    }
  });
});

describe("createPayout", () => {
  it("asks for what identifies a payer who is a person", () => {
    const person = {
      entity_type: "individual",
      first_name: "Ada",
      last_name: "Lovelace",
      birth_date: "1990-12-10",
    };
    expectRight("createPayout", person);
    for (const field of ["first_name", "last_name", "birth_date"]) {
      expectFault(
        "createPayout",
        { ...person, [field]: undefined },
        field,
        "is required for entity_type individual",
      );
    }
    for (const identification_type of ["passport", "drivers_license", "national_id"]) {
      expectRight("createPayout", { ...person, identification_type });
    }
    expectFault(
      "createPayout",
      { ...person, identification_type: "incorporation_number" },
      "identification_type",
      "must be passport, drivers_license, national_id for entity_type individual",
    );
  });

  it("asks for what identifies a payer which is a company", () => {
    const company = { entity_type: "company", company_name: "Engines" };
    expectRight("createPayout", company);
    expectFault(
      "createPayout",
      { entity_type: "company" },
      "company_name",
      "is required for entity_type company",
    );
    expectRight("createPayout", { ...company, identification_type: "incorporation_number" });
    for (const identification_type of ["passport", "drivers_license", "national_id"]) {
      expectFault(
        "createPayout",
        { ...company, identification_type },
        "identification_type",
        "must be incorporation_number for entity_type company",
      );
    }
  });

  it("asks for nothing of the payer where there is none", () => {
    expectRight("createPayout", { identification_type: "passport" });
    expect(faultsOf("createPayout", { identification_type: "library_card" })).toHaveLength(1);
    expect(faultsOf("createPayout", { entity_type: "trust" })).toHaveLength(1);
  });
});

describe("all faults at once", () => {
  it("names single fields, rules across fields and unknown fields together, each once", () => {
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
      { field: "ibann", problem: "is not a field of this operation" },
      { field: "last_name", problem: "must have at most 45 characters" },
      { field: "nickname", problem: "must have 1 to 120 characters" },
      { field: "routing_code_type1", problem: "is required with routing_code_value1" },
    ]);
  });

  it("names faults of path and body together", () => {
    expect(
      faultsOf("updateBeneficiary", { beneficiary_id: "a/b", city: "", company_name: "1" }).map(
        ({ field }) => field,
      ),
    ).toStrictEqual(["beneficiary_id", "city", "company_name"]);
  });

  it("leaves out what is still to come", () => {
    const { card_holder_id: _, ...card } = requests.createCard;
    expect(checkInput("createCard", card)).toHaveLength(1);
    expect(checkInput("createCard", card, { later: ["card_holder_id"] })).toStrictEqual([]);
  });
});

describe("a wrong request", () => {
  it("fails with every fault named, and opens no connection", async () => {
    await using server = await startServer(() => success());
    await using client = clientFor(server.url);
    const error = await failureOf(
      client.createPayout({ ...requests.createPayout, currency: "US$", amount: "-1" }),
    );
    expect(error).toMatchObject({
      _tag: "InvalidRequest",
      operation: "createPayout",
      carriedOut: "no",
      message:
        "createPayout: currency must be a three-letter currency code, such as USD; " +
        'amount must be a decimal amount above zero, written plainly, such as "100.00". createPayout was not sent.',
      faults: [{ field: "currency" }, { field: "amount" }],
    });
    expect(server.connections()).toBe(0);
    await client.freezeCard(requests.freezeCard);
    expect(server.connections()).toBeGreaterThan(0);
  });

  it("never repeats a value in its message", async () => {
    const secret = "DE89370400440532013000";
    await using client = clientFor("http://127.0.0.1:9");
    const wrong = {
      ...requests.createBeneficiary,
      account_number: 4000001234567899,
      iban: [secret],
      nickname: secret.repeat(9),
      entity_type: secret,
    };
    // A caller without types.
    const error = await failureOf(client.createBeneficiary(wrong as never));
    expect(error._tag).toBe("InvalidRequest");
    const written = JSON.stringify(error) + String(error) + (error.stack ?? "");
    expect(written).not.toContain(secret);
    expect(written).not.toContain("4000001234567899");
  });
});
