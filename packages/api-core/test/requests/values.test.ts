import { describe, expect, it } from "vitest";
import { operationNames } from "../../src/client/operation-names.ts";
import { operation } from "../../src/client/operations.ts";
import type { OperationName } from "../../src/index.ts";
import { answers } from "../support/responses.ts";
import { exchange, failedExchange } from "../support/client.ts";
import { expectFault, expectRight, faultsOf } from "../support/faults.ts";
import { requests } from "../support/requests.ts";
import { success } from "../support/server.ts";

const COUNTRY = "must be a two-letter country code, such as US";
const CURRENCY = "must be a three-letter currency code, such as USD";
const DATE = "must be a calendar date, YYYY-MM-DD";
const AMOUNT = 'must be a decimal amount above zero, written plainly, such as "100.00"';

describe("codes", () => {
  const countries: ReadonlyArray<readonly [OperationName, string]> = [
    ["createBeneficiary", "bank_country"],
    ["createBeneficiary", "country_code"],
    ["updateBeneficiary", "bank_country"],
    ["updateBeneficiary", "country_code"],
    ["createPayout", "country"],
  ];
  it.each(countries)("%s: %s has two letters", (name, field) => {
    expectRight(name, { [field]: "SG" });
    expectRight(name, { [field]: "sg" });
    for (const wrong of ["S", "SGP", "ß", "S1", "", " SG", "SG\n", "ÄÖ"]) {
      expectFault(name, { [field]: wrong }, field, COUNTRY);
    }
  });

  const currencies: ReadonlyArray<readonly [OperationName, string]> = [
    ["createBeneficiary", "account_currency"],
    ["updateBeneficiary", "account_currency"],
    ["createPayout", "currency"],
  ];
  it.each(currencies)("%s: %s has three letters", (name, field) => {
    expectRight(name, { [field]: "SGD" });
    expectRight(name, { [field]: "sgd" });
    for (const wrong of ["SG", "SGDX", "SG1", "", "SGD ", "SGD\n"]) {
      expectFault(name, { [field]: wrong }, field, CURRENCY);
    }
  });
});

describe("codes in lower case", () => {
  it("are sent in capitals", async () => {
    const { sent } = await exchange(
      "createBeneficiary",
      {
        ...requests.createBeneficiary,
        bank_country: "us",
        account_currency: "usd",
        country_code: "gb",
      },
      answers.createBeneficiary,
    );
    expect(JSON.parse(sent.body)).toMatchObject({
      bank_country: "US",
      account_currency: "USD",
      country_code: "GB",
    });
    const payout = { ...requests.createPayout, currency: "usd", country: "fr" };
    expect(
      JSON.parse((await exchange("createPayout", payout, answers.createPayout)).sent.body),
    ).toMatchObject({ currency: "USD", country: "FR" });
  });

  it("fall under the rules of those in capitals", () => {
    expectFault(
      "createBeneficiary",
      { bank_country: "de", account_currency: "eur" },
      "iban",
      "is required for this bank_country and account_currency",
    );
    expectFault(
      "createPayout",
      { currency: "jpy", amount: "1.5" },
      "amount",
      "has 1 digits after the point, JPY has 0",
    );
  });
});

describe("the currency of a balance", () => {
  it.each([
    ["usd", "USD"],
    ["USD", "USD"],
    ["USDT", "USDT"],
    ["usdt", "usdt"],
    ["X1", "X1"],
  ])("%s is sent as %s", async (currency, written) => {
    const created = await exchange("createBalance", { currency, name: "Main" }, success());
    expect(JSON.parse(created.sent.body)).toStrictEqual({ currency: written, name: "Main" });
    const read = await exchange("retrieveBalance", { currency }, answers.retrieveBalance);
    expect(read.sent.path).toBe(`/api/v1/balances/retrieve/${written}`);
  });
});

describe("card_limit", () => {
  it.each([
    [0, "0"],
    ["0", "0"],
    ["0.00", "0"],
    [100, "100"],
    [100.5, "100.5"],
  ])("%j is sent as %s", async (card_limit, written) => {
    const { sent } = await exchange(
      "createCard",
      { ...requests.createCard, card_limit },
      answers.createCard,
    );
    expect(sent.body).toContain(`"card_limit":${written},`);
  });

  it.each([-1, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY, 0.1 + 0.2])(
    "%s is not sent",
    (card_limit) => {
      expect(faultsOf("createCard", { card_limit }).map(({ field }) => field)).toStrictEqual([
        "card_limit",
      ]);
    },
  );
});

it("characters are counted as a person counts them", () => {
  expectRight("createBeneficiary", {
    account_holder: "😀".repeat(36),
    postal_code: "𝟙".repeat(12),
  });
  expectFault(
    "createBeneficiary",
    { account_holder: "😀".repeat(37) },
    "account_holder",
    "must have 1 to 36 characters",
  );
});

describe("what the document gives a longest length alone", () => {
  it.each([
    ["createBeneficiary", { state: "", postal_code: "", bank_address: "" }],
    ["updateBeneficiary", { account_number: "", clearing_system: "" }],
  ] as const)("of %s may be empty", (name, changes) => {
    expectRight(name, changes);
  });
});

describe("dates", () => {
  const dates: ReadonlyArray<readonly [OperationName, string]> = [
    ["createPayout", "payment_date"],
    ["createPayout", "birth_date"],
    ["createCardholder", "date_birth"],
  ];
  it.each(dates)("%s: %s is a day of the calendar", (name, field) => {
    for (const right of ["2026-11-21", "2024-02-29", "2000-02-29", "1900-01-01", "2026-12-31"]) {
      expectRight(name, { [field]: right });
    }
    for (const wrong of [
      "2026-02-30",
      "2025-02-29",
      "1900-02-29",
      "2026-13-01",
      "2026-00-10",
      "2026-11-00",
      "2026-11-31",
      "2026-1-1",
      "26-11-21",
      "21.11.2026",
      "2026/11/21",
      "2026-11-21T00:00:00Z",
      " 2026-11-21",
      "2026-11-21\n",
      "",
    ]) {
      expectFault(name, { [field]: wrong }, field, DATE);
    }
  });
});

describe("enums", () => {
  const enums: ReadonlyArray<readonly [OperationName, string, ReadonlyArray<string | number>]> = [
    ["createBeneficiary", "payment_method", ["local", "swift"]],
    ["updateBeneficiary", "entity_type", ["company", "individual"]],
    ["updateBeneficiary", "payment_method", ["local", "swift"]],
    ["createPayout", "is_payer", ["Y", "N"]],
    ["listPayouts", "date_type", ["settle_time", "create_time"]],
    ["listPayouts", "scope", ["house_account", "clients_account"]],
    ["listPayouts", "status", ["awaiting_funds", "trade_settled", "closed", "funds_arrived"]],
    ["listTransactions", "scope", ["house_account", "clients_account"]],
    [
      "listTransactions",
      "transaction_type",
      [
        "payin",
        "payout",
        "deposit",
        "transfer",
        "conversion",
        "card fee",
        "card charge",
        "fee",
        "adjustment",
      ],
    ],
    ["listTransactions", "transaction_status", ["-1", "0", "1", "2"]],
    ["listTransactions", "date_type", ["create_time", "settle_time", "complete_time"]],
    ["createCardholder", "card_holder_status", [-1, 0, 1, 2]],
    ["listCardholders", "card_holder_status", [-1, 0, 1, 2]],
  ];
  it.each(enums)(
    "%s: %s takes what the document lists, and nothing else",
    (name, field, values) => {
      for (const value of values) expectRight(name, { [field]: value });
      const listed = values.map((value) => JSON.stringify(value)).join(", ");
      for (const wrong of ["", "something", 3, null, String(values[0]).toUpperCase() + "!"]) {
        expectFault(name, { [field]: wrong }, field, `must be one of ${listed}`);
      }
    },
  );
});

describe("pages", () => {
  const pages: ReadonlyArray<readonly [OperationName, number]> = [
    ["listPayouts", 50],
    ["listCardholders", 50],
    ["listTransactions", 100],
  ];
  it.each(pages)("%s: pages count from 1 and hold at most %i", (name, most) => {
    expectRight(name, { page_num: 1, page_size: 1 });
    expectRight(name, { page_num: 1_000_000, page_size: most });
    for (const page_num of [0, -1]) {
      expectFault(name, { page_num }, "page_num", "must be 1 or more");
    }
    for (const page_size of [0, -1, most + 1]) {
      expectFault(name, { page_size }, "page_size", `must be from 1 to ${most}`);
    }
    expectFault(name, { page_num: 1.5 }, "page_num", "must be an integer");
    expectFault(name, { page_size: Number.NaN }, "page_size", "must be an integer");
    expectFault(name, { page_size: "10" }, "page_size", "must be a number");
  });
});

describe("ranges", () => {
  const DAY = 86_400_000;
  it("listTransactions spans at most 30 days", () => {
    expectRight("listTransactions", { start: 1000, end: 1000 + 30 * DAY });
    expectRight("listTransactions", { start: 1000, end: 1000 });
    expectRight("listTransactions", { start: 1000 });
    expectRight("listTransactions", { end: 1000 });
    expectFault(
      "listTransactions",
      { start: 1000, end: 1001 + 30 * DAY },
      "end",
      "must be at most 30 days after start",
    );
    expectFault("listTransactions", { start: 1000, end: 999 }, "end", "must not be before start");
  });

  it("listPayouts has no such limit", () => {
    expectRight("listPayouts", { start: 1000, end: 1000 + 300 * DAY });
  });

  it.each(["listPayouts", "listTransactions"] as const)("%s takes whole milliseconds", (name) => {
    expectFault(name, { start: -1 }, "start", "must be a time in milliseconds since 1970");
    expectFault(name, { end: 0.5 }, "end", "must be an integer");
    expectFault(name, { start: "2026-11-21" }, "start", "must be a number");
  });
});

describe("ids in a path", () => {
  it.each([
    ["retrieveBeneficiary", "beneficiary_id"],
    ["updateBeneficiary", "beneficiary_id"],
    ["retrievePayout", "payout_id"],
    ["removeCardholder", "card_holder_id"],
  ] as const)("%s: %s cannot lead to another path", (name, field) => {
    for (const right of ["7b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a01", "P261121-AB12CD34", "a.b", "é"]) {
      expectRight(name, { [field]: right });
    }
    for (const wrong of [
      ".",
      "..",
      "...",
      "a/b",
      "../cancel",
      "a b",
      "a?b",
      "a#b",
      "a%2e",
      "a\\b",
      "a\u0000",
      "a\n",
      "\ud800",
    ]) {
      expect([wrong, faultsOf(name, { [field]: wrong }).length]).toStrictEqual([wrong, 1]);
    }
  });
});

describe("texts", () => {
  const UNREADABLE = [
    ["\u0000", "has the control character U+0000: remove it"],
    ["\t", "has the control character U+0009: remove it"],
    ["\u001b", "has the control character U+001B: remove it"],
    ["\u007f", "has the control character U+007F: remove it"],
    ["\u009b", "has the control character U+009B: remove it"],
    ["\u202a", "has the control character U+202A: remove it"],
    ["\u202e", "has the control character U+202E: remove it"],
    ["\u2066", "has the control character U+2066: remove it"],
    ["\u2069", "has the control character U+2069: remove it"],
    ["\ud800", "has the control character U+D800: remove it"],
    ["\n", "has a line break (U+000A): write it on one line"],
    ["\r", "has a line break (U+000D): write it on one line"],
    ["\u0085", "has a line break (U+0085): write it on one line"],
    ["\u2028", "has a line break (U+2028): write it on one line"],
    ["\u2029", "has a line break (U+2029): write it on one line"],
  ] as const;

  /** Every field of every operation that takes a text of any letters. */
  const texts = operationNames.flatMap((name) => {
    const { params, payload, query } = operation(name);
    return [params, query, payload]
      .flatMap((part) => part?.fields ?? [])
      .filter((field) =>
        faultsOf(name, { [field]: "Ünal" }).every((fault) => fault.field !== field),
      )
      .map((field) => [name, field] as const);
  });

  it("are many fields", () => expect(texts.length).toBeGreaterThan(50));

  it.each(texts)("%s: %s has no character that changes how it is shown", (name, field) => {
    for (const [character, problem] of UNREADABLE) {
      expect(faultsOf(name, { [field]: `Inv${character}oice` })).toContainEqual({ field, problem });
    }
    for (const right of [
      "Ω ﷲ 東京 é",
      "نامه\u200cای",
      "שלום",
      "👩\u200d👧",
      "e\u0301",
      "a\u00a0b",
    ]) {
      const faults = faultsOf(name, { [field]: right }).map(({ problem }) => problem);
      expect(faults.filter((problem) => problem.startsWith("has "))).toStrictEqual([]);
    }
  });

  it("are not sent with one, and the field is named", async () => {
    const { error, requests: sent } = await failedExchange(
      "createPayout",
      { ...requests.createPayout, payout_reference: "Invoice 17\u202e00.04" },
      answers.createPayout,
    );
    expect(sent).toStrictEqual([]);
    expect(error).toMatchObject({
      _tag: "InvalidRequest",
      carriedOut: "no",
      message:
        "createPayout: payout_reference has the control character U+202E: remove it. createPayout was not sent.",
    });
  });

  it("are read from an answer with one", async () => {
    const payout_reference = "Inv\u001b[2Koice\n\u202e";
    const { result } = await exchange(
      "retrievePayout",
      requests.retrievePayout,
      success({ payout_id: "p-1", payout_reference }),
    );
    expect(result).toMatchObject({ payout_reference });
  });
});

describe("amounts", () => {
  const amounts = [
    ["createPayout", "amount"],
    ["withdrawFromCard", "amount"],
  ] as const;
  const wrongs = [
    "-1",
    "+1",
    "1e3",
    "01",
    "00.5",
    ".5",
    "5.",
    "1,000",
    "1 000",
    "1_000",
    "0x10",
    "NaN",
    "Infinity",
    "",
    " 1",
    "1\n",
    "١",
    "1.0.0",
    "$1",
  ];

  it.each([...amounts, ["createCard", "card_limit"] as const])(
    "%s: %s is a plain decimal text",
    (name, field) => {
      for (const right of ["1", "0.01", "100", "100.5", "100.50", "10", "12345678901.99"]) {
        expectRight(name, { [field]: right });
      }
      const problem = field === "amount" ? AMOUNT : AMOUNT.replace(" above zero", "");
      for (const wrong of wrongs) expectFault(name, { [field]: wrong }, field, problem);
    },
  );

  it.each(amounts)("%s: %s is a text above zero", (name, field) => {
    for (const wrong of ["0", "0.00"]) expectFault(name, { [field]: wrong }, field, AMOUNT);
    expectFault(name, { [field]: 100 }, field, "must be a string");
  });

  it.each([
    ["JPY", 0],
    ["KRW", 0],
    ["CLP", 0],
    ["USD", 2],
    ["EUR", 2],
    // What people write without a smaller unit has one all the same.
    ["HUF", 2],
    ["COP", 2],
    ["IDR", 2],
    ["XXX", 2],
    ["BHD", 3],
    ["IQD", 3],
    ["KWD", 3],
    ["CLF", 4],
  ])("createPayout: an amount in %s has at most %i digits after the point", (currency, most) => {
    expectRight("createPayout", { currency, amount: "1" });
    if (most > 0) expectRight("createPayout", { currency, amount: `1.${"5".repeat(most)}` });
    expectFault(
      "createPayout",
      { currency, amount: `1.${"0".repeat(most + 1)}` },
      "amount",
      `has ${most + 1} digits after the point, ${currency} has ${most}`,
    );
  });

  it.each([
    ["withdrawFromCard", "amount"],
    ["createCard", "card_limit"],
  ] as const)("%s: %s is in USD, the currency of cards", (name, field) => {
    expectRight(name, { [field]: "1.25" });
    expectFault(name, { [field]: "1.250" }, field, "has 3 digits after the point, USD has 2");
  });

  it("createCard: card_limit must survive as a JSON number", () => {
    for (const right of ["9007199254740991", "70368744177663.99", "0.07", "100.00", "1000000"]) {
      expectRight("createCard", { card_limit: right });
    }
    for (const wrong of [
      "9007199254740993",
      "123456789012345678.12",
      "1000000000000000000000000",
      "90071992547409931.01",
    ]) {
      expectFault(
        "createCard",
        { card_limit: wrong },
        "card_limit",
        "has more digits than a JSON number carries exactly",
      );
    }
  });
});
