import { describe, expect, it } from "vitest";
import { checkInput } from "../../src/contract.ts";
import { operation } from "../../src/client/operations.ts";
import { type OperationName, operationNames } from "../../src/effect.ts";
import { expectFault, expectRight, faultsOf } from "../support/faults.ts";

/** What a field takes, and what it says of anything else. */
interface Kind {
  readonly right: ReadonlyArray<unknown>;
  readonly wrong: ReadonlyArray<readonly [problem: string, ...values: ReadonlyArray<unknown>]>;
}

const LINE = "has a line break (U+000A): write it on one line";
const CONTROLS: Kind["wrong"] = [
  ...["\u0000", "\t", "\u001b", "\u009b", "\u202e", "\u2069", "\ud800"].map((character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    return [`has the control character U+${code}: remove it`, `In${character}voice`] as const;
  }),
  [LINE, "In\nvoice"],
];

/** A text of any letters: 1 to `most` characters, as a person counts them. */
const text = (most?: number): Kind => ({
  right: ["Ünal 東京 👩‍👧", "x".repeat(most ?? 1000), "😀".repeat(most ?? 10)].filter(
    (value) => Array.from(value).length <= (most ?? 1000),
  ),
  wrong: [
    ...CONTROLS,
    ...(most === undefined
      ? [["must not be empty", ""] as const]
      : [[`must have 1 to ${most} characters`, "", "x".repeat(most + 1)] as const]),
    ["must be a string", true, null, 7],
  ],
});

/** A text that may be empty. */
const emptyText = (most?: number): Kind => ({
  right: ["", ...text(most).right],
  wrong: [
    ...CONTROLS,
    ...(most === undefined
      ? []
      : [[`must have at most ${most} characters`, "x".repeat(most + 1)] as const]),
    ["must be a string", true, null, 7],
  ],
});

/** A number of an account, or a code: it is ASCII. */
const code = (most: number): Kind => ({
  right: ["", "12-34 56", "x".repeat(most)],
  wrong: [
    ...emptyText(most).wrong,
    ["has the character U+00DC: write it in ASCII letters, digits and dashes", "Ü1"],
  ],
});

const id: Kind = {
  right: ["b-1", "0"],
  wrong: [["must not be empty", "", " "], ...CONTROLS.slice(0, 1)],
};

const pathId: Kind = {
  right: ["7b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a01", "P261121-AB12CD34", "a.b", "é"],
  wrong: [
    [
      "must be an id from the service: not empty, without slashes or white space, and not only dots",
      "",
      ".",
      "..",
      "a/b",
      "../cancel",
      "a b",
      "a?b",
      "a#b",
      "a%2e",
      "a\\b",
    ],
  ],
};

const country: Kind = {
  right: ["SG", "sg", " SG\n"],
  wrong: [["must be a two-letter country code, such as US", "S", "SGP", "ß", ""]],
};

const currency: Kind = {
  right: ["SGD", "sgd"],
  wrong: [["must be a three-letter currency code, such as USD", "SG", "SGDX", "SG1", ""]],
};

const date: Kind = {
  right: ["2026-11-21", "2024-02-29", "2000-02-29", "1900-01-01"],
  wrong: [
    [
      "must be a calendar date, YYYY-MM-DD",
      "2026-02-30",
      "2025-02-29",
      "1900-02-29",
      "2026-13-01",
      "2026-11-00",
      "2026-1-1",
      "21.11.2026",
      "2026/11/21",
      "2026-11-21T00:00:00Z",
      "",
    ],
  ],
};

const NOT_PLAIN = ["-1", "+1", "1e3", "01", ".5", "5.", "1,000", "1 000", "0x10", "NaN", "", "١"];

const amount: Kind = {
  right: ["1", "0.01", "100.5", "100.50", "12345678901.99"],
  wrong: [
    [
      'must be a decimal amount above zero in plain notation, such as "100.00"',
      "0",
      "0.00",
      ...NOT_PLAIN,
    ],
    ["must be a string", 100],
  ],
};

/** The one amount that goes as a JSON number. */
const numberAmount: Kind = {
  right: ["0", "0.07", "100.00", "100.5", "9007199254740991", "70368744177663.99"],
  wrong: [
    ['must be a decimal amount in plain notation, such as "100.00"', ...NOT_PLAIN],
    ["must be a string", 100, -1, 1e21],
    ["has more digits than a JSON number can represent exactly", "9007199254740993"],
  ],
};

const oneOf = (...values: ReadonlyArray<string | number>): Kind => ({
  right: values,
  wrong: [
    [
      `must be one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
      "",
      "something",
      3,
      null,
    ],
  ],
});

const pageNumber: Kind = {
  right: [1, 1_000_000],
  wrong: [
    ["must be 1 or more", 0, -1],
    ["must be an integer", 1.5],
    ["must be a number", "1"],
  ],
};

const pageSize = (most: number): Kind => ({
  right: [1, most],
  wrong: [
    [`must be from 1 to ${most}`, 0, -1, most + 1],
    ["must be an integer", Number.NaN],
  ],
});

const bound: Kind = {
  right: [0, 1_763_600_000_000],
  wrong: [
    ["must be a time in milliseconds since 1970", -1],
    ["must be an integer", 0.5],
  ],
};

const balanceCurrency: Kind = { ...text(), right: ["usd", "USDT", "X1"] };

const entity = oneOf("company", "individual");
const scope = oneOf("house_account", "clients_account");

const beneficiary = {
  bank_country: country,
  account_currency: currency,
  entity_type: entity,
  email: text(),
  nickname: text(120),
  payment_method: oneOf("local", "swift"),
  bank_name: text(240),
  bank_address: emptyText(240),
  account_holder: text(36),
  country_code: country,
  city: text(36),
  state: emptyText(96),
  address: text(255),
  postal_code: emptyText(12),
};

const page = (most: number) => ({ page_num: pageNumber, page_size: pageSize(most) });

/** From the document: every field of every request, those that must be given first. */
const FIELDS: {
  readonly [Name in OperationName]: {
    readonly required: Readonly<Record<string, Kind>>;
    readonly optional?: Readonly<Record<string, Kind>>;
  };
} = {
  ping: { required: {} },
  createBeneficiary: {
    // The names depend on the entity_type: see the rules.
    required: { ...beneficiary, entity_type: { ...entity, right: ["individual"] } },
    optional: {
      first_name: { ...emptyText(45), right: text(45).right },
      last_name: { ...emptyText(45), right: text(45).right },
      company_name: emptyText(120),
      account_number: { ...code(60), right: ["12-34 56"] },
      iban: { right: ["DE89370400440532013000"], wrong: [] },
      swift_code: code(30),
      clearing_system: emptyText(30),
      routing_code_type1: emptyText(),
      routing_code_value1: { right: [""], wrong: [] },
      routing_code_type2: emptyText(),
      routing_code_value2: { right: [""], wrong: [] },
    },
  },
  updateBeneficiary: {
    required: {
      beneficiary_id: pathId,
      ...beneficiary,
      account_number: code(60),
      clearing_system: emptyText(30),
    },
    optional: {
      first_name: emptyText(45),
      last_name: emptyText(45),
      company_name: emptyText(120),
      swift_code: code(30),
    },
  },
  retrieveBeneficiary: { required: { beneficiary_id: pathId } },
  createPayout: {
    required: {
      currency,
      amount,
      payout_reason: text(),
      payment_date: date,
      beneficiary_id: id,
      is_payer: oneOf("Y", "N"),
    },
    optional: {
      payout_reference: emptyText(),
      payer_id: emptyText(),
      entity_type: { right: [], wrong: [['must be one of "company", "individual"', "trust"]] },
      company_name: emptyText(),
      first_name: emptyText(),
      last_name: emptyText(),
      birth_date: date,
      country,
      address: emptyText(),
      city: emptyText(),
      state_or_province: emptyText(),
      postal_code: emptyText(),
      identification_type: oneOf(
        "passport",
        "drivers_license",
        "national_id",
        "incorporation_number",
      ),
      identification_value: emptyText(),
      unique_request_id: text(36),
    },
  },
  listPayouts: {
    required: page(50),
    optional: {
      date_type: oneOf("settle_time", "create_time"),
      scope,
      short_reference_id: text(36),
      status: oneOf("awaiting_funds", "trade_settled", "closed", "funds_arrived"),
      start: bound,
      end: bound,
    },
  },
  retrievePayout: { required: { payout_id: pathId } },
  listPayers: { required: {} },
  createBalance: { required: { currency: balanceCurrency, name: text(60) } },
  retrieveBalance: { required: { currency: pathId } },
  retrieveBalanceBankDetails: { required: { currency: pathId } },
  listTransactions: {
    required: page(100),
    optional: {
      scope,
      short_reference_id: text(),
      transaction_type: oneOf(
        "payin",
        "payout",
        "deposit",
        "transfer",
        "conversion",
        "card fee",
        "card charge",
        "fee",
        "adjustment",
      ),
      transaction_status: oneOf("-1", "0", "1", "2"),
      date_type: oneOf("create_time", "settle_time", "complete_time"),
      start: bound,
      end: bound,
    },
  },
  createCardholder: {
    required: {
      email: text(),
      first_name: text(50),
      last_name: text(50),
      date_birth: date,
      phone_number: text(50),
      card_holder_status: oneOf(-1, 0, 1, 2),
    },
    optional: { residential_address: emptyText(), delivery_address: emptyText() },
  },
  listCardholders: {
    required: page(50),
    optional: {
      direct_account_id: text(),
      card_account_id: text(),
      card_holder_status: oneOf(-1, 0, 1, 2),
      name: text(),
    },
  },
  removeCardholder: { required: { card_holder_id: pathId } },
  createCard: {
    required: {
      card_holder_id: id,
      product_code: text(),
      balance_id: id,
      card_limit: numberAmount,
      unique_request_id: text(36),
    },
  },
  withdrawFromCard: {
    required: { card_id: id, card_number: text(), amount, unique_request_id: text(36) },
  },
  updateCard: { required: { card_id: id, card_name: text() } },
  cancelCard: { required: { card_id: id } },
  freezeCard: { required: { card_id: id } },
};

describe.each(operationNames)("%s", (name) => {
  const { optional = {}, required } = FIELDS[name];

  it("takes the request that the document describes, and each of its fields", () => {
    expectRight(name);
    for (const [field, { right }] of Object.entries({ ...required, ...optional })) {
      for (const value of right) expectRight(name, { [field]: value });
    }
  });

  it("has no other field", () => {
    const { params, payload, query } = operation(name);
    const fields = [params, query, payload].flatMap((part) => part?.fields ?? []);
    expect(fields.toSorted()).toStrictEqual(Object.keys({ ...required, ...optional }).toSorted());
    expectFault(name, { surprise: 1 }, "surprise", "is not a field of this operation");
  });

  it("names every missing field at once", () => {
    const missing = Object.fromEntries(Object.keys(required).map((field) => [field, undefined]));
    const faults = faultsOf(name, missing);
    for (const field of Object.keys(required)) {
      expect(faults).toContainEqual({ field, problem: "is required" });
    }
  });

  it("refuses anything instead of fields", () => {
    for (const input of [null, "text", 7, [], true]) {
      expect(checkInput(name, input)).toContainEqual({
        field: "",
        problem: "must be an object of fields",
      });
    }
  });
});

const wrong = operationNames.flatMap((name) => {
  const { optional = {}, required } = FIELDS[name];
  return Object.entries({ ...required, ...optional }).map(
    ([field, { wrong }]) => [name, field, wrong] as const,
  );
});

it.each(wrong)("%s says what is wrong with its %s", (name, field, problems) => {
  for (const [problem, ...values] of problems) {
    for (const value of values) {
      expect([value, faultsOf(name, { [field]: value })]).toStrictEqual([
        value,
        [{ field, problem }],
      ]);
    }
  }
});
