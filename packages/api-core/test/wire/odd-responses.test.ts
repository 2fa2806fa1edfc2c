import { Effect, Logger } from "effect";
import { describe, expect, it } from "vitest";
import { type OperationName, PaymentsClient } from "../../src/index.ts";
import { anyEffect, exchange, settingsFor } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { type Reply, startServer, success } from "../support/server.ts";

/** Values as JSON that no optional field of the document may have. */
const ODD = ["null", "true", "{}", '{"value":"1.00"}', '["1.00"]', "[]"];

/** The answer of an operation with one field written so. */
const answerWith = (data: object, field: string, written: string): Reply => ({
  body: `{"code":200,"message":"Success","data":${JSON.stringify({ ...data, [field]: "?" }).replace('"?"', written)}}`,
});

const WRITES: ReadonlyArray<readonly [OperationName, object, object, ReadonlyArray<string>]> = [
  [
    "createPayout",
    { id: "p-1" },
    { payout_id: "p-1" },
    ["status", "amount", "currency", "unique_request_id", "create_time", "payment_date"],
  ],
  ["createCard", { card_id: "c-1" }, { card_id: "c-1" }, ["card_status", "unique_request_id"]],
  [
    "withdrawFromCard",
    { card_id: "card-1" },
    { card_id: "card-1" },
    ["amount", "card_number", "unique_request_id"],
  ],
  [
    "createBeneficiary",
    { beneficiary_id: "b-1" },
    { beneficiary_id: "b-1" },
    ["beneficiary_status", "account_number", "beneficiary_bank_details", "beneficiary_address"],
  ],
  ["createCardholder", { card_holder_id: "h-1" }, { card_holder_id: "h-1" }, ["status"]],
];

describe.each(WRITES)("the answer of %s", (name, data, expected, fields) => {
  it("needs its id alone", async () => {
    expect((await exchange(name, requests[name], success(data))).result).toStrictEqual(expected);
  });

  it.each(["", " ", "0", "000", "-", "null", "None", "n/a"])(
    "is unknown where %j stands in the place of its id",
    async (id) => {
      const written = JSON.parse(
        JSON.stringify(data).replace(JSON.stringify(Object.values(expected)[0]), () =>
          JSON.stringify(id),
        ),
      ) as Readonly<Record<string, unknown>>;
      expect(JSON.stringify(written)).not.toContain(Object.values(expected)[0]);
      await expect(exchange(name, requests[name], success(written))).rejects.toMatchObject({
        _tag: "UnexpectedAnswer",
        carriedOut: "unknown",
      });
    },
  );

  it.each(fields)("is not thrown away for an odd %s", async (field) => {
    for (const written of ODD) {
      // An object is what they are documented as.
      if (written.startsWith("{") && /details|address/.test(field)) continue;
      const { result } = await exchange(name, requests[name], answerWith(data, field, written));
      expect(result).toStrictEqual(expected);
    }
  });
});

describe("an amount that is a number", () => {
  it.each([
    ["100.5", "100.5"],
    ["2500", "2500"],
    ["-3.10", "-3.1"],
    ["12345678901234567.89", "12345678901234567.89"],
    ["0.10000000000000001", "0.10000000000000001"],
  ])("%s is read as a text", async (written, amount) => {
    const reply = answerWith({ payout_id: "p-1" }, "amount", written);
    const { result } = await exchange("retrievePayout", requests.retrievePayout, reply);
    expect(result).toStrictEqual({ payout_id: "p-1", amount });
  });
});

it.each(["1e-7", "1e21", "1E400"])(
  "an amount of %s is no decimal text, and absent",
  async (written) => {
    const reply = answerWith({ id: "p-1" }, "amount", written);
    expect((await exchange("createPayout", requests.createPayout, reply)).result).toStrictEqual({
      payout_id: "p-1",
    });
  },
);

describe("details of a beneficiary", () => {
  it.each([
    ["as texts", (details: object) => JSON.stringify(details)],
    ["as objects", (details: object) => details],
  ])("%s are read for what is readable in them", async (_, write) => {
    const { result } = await exchange(
      "createBeneficiary",
      requests.createBeneficiary,
      success({
        beneficiary_id: "b-1",
        beneficiary_bank_details: write({ bank_name: { x: 1 }, iban: "", swift_code: "ABCDUS33" }),
        beneficiary_address: write({ city: 7, state: ["TX"] }),
      }),
    );
    expect(result).toStrictEqual({
      beneficiary_id: "b-1",
      beneficiary_bank_details: { swift_code: "ABCDUS33" },
      beneficiary_address: { city: "7" },
    });
  });
});

it("a payer without an id does not hide the others", async () => {
  const payers = [
    { payer_id: "y-1" },
    { company_name: "X" },
    null,
    { data: [{ payer_id: "y-2" }] },
  ];
  const { result } = await exchange("listPayers", {}, success(payers));
  expect(result).toStrictEqual([{ payer_id: "y-1" }, { payer_id: "y-2" }]);
});

describe("a row of a list", () => {
  const page = (rows: ReadonlyArray<unknown>) =>
    success({ total_item: rows.length, total_page: 1, item_list: rows });
  const LISTS = [
    ["listPayouts", "payout_id"],
    ["listCardholders", "card_holder_id"],
    ["listTransactions", "transaction_id"],
  ] as const;

  it.each(LISTS)("of %s needs its id alone", async (name, id) => {
    const { result } = await exchange(name, requests[name], page([{ [id]: "x-1" }]));
    expect(result).toMatchObject({ item_list: [{ [id]: "x-1" }], unreadable: [] });
  });

  it.each(LISTS)(
    "of %s that cannot be read fails alone, and is handed on raw",
    async (name, id) => {
      const odd = { [id]: "", amount: "5.00", first_name: { is: "Ada" } };
      const rows = [{ [id]: "x-1" }, odd, null, "row", [1], { [id]: "x-2" }, {}];
      const { result } = await exchange(name, requests[name], page(rows));
      expect(result).toStrictEqual({
        total_item: 7,
        total_page: 1,
        item_list: [{ [id]: "x-1" }, { [id]: "x-2" }],
        unreadable: [
          { reason: "has no id that can be read", fields: odd },
          { reason: "is not an object", fields: {} },
          { reason: "is not an object", fields: {} },
          { reason: "is not an object", fields: {} },
          { reason: "has no id that can be read", fields: {} },
        ],
      });
    },
  );

  it("keeps a time that cannot be read, and none that is unset", async () => {
    const row = { payout_id: "x-1", create_time: "the other day", complete_time: "-" };
    expect((await exchange("listPayouts", requests.listPayouts, page([row]))).result).toMatchObject(
      {
        item_list: [{ payout_id: "x-1", create_time: "the other day" }],
      },
    );
    expect(
      JSON.stringify((await exchange("listPayouts", requests.listPayouts, page([row]))).result),
    ).not.toContain("complete_time");
  });
});

describe("totals of a list", () => {
  it.each([
    ["missing", {}],
    ["null", { total_item: null, total_page: null }],
    ["texts", { total_item: "1", total_page: "1" }],
    ["negative", { total_item: -1, total_page: -1 }],
    ["broken", { total_item: 0.5, total_page: 1.5 }],
  ])("that are %s are absent", async (_, totals) => {
    const { result } = await exchange(
      "listPayouts",
      requests.listPayouts,
      success({ ...totals, item_list: [{ payout_id: "x-1" }] }),
    );
    expect(result).toStrictEqual({ item_list: [{ payout_id: "x-1" }], unreadable: [] });
  });
});

it("says once which fields are left out, and never what they held", async () => {
  const said: Array<string> = [];
  const logger = Logger.make(({ message }) => {
    said.push(String(message));
  });
  await using server = await startServer(() =>
    success({ id: "p-1", amount: { account_number: "000123456789" }, status: ["x"] }),
  );
  await PaymentsClient.use((client) =>
    Effect.all([
      anyEffect(client, "createPayout")(requests.createPayout),
      anyEffect(client, "createPayout")(requests.createPayout),
    ]),
  ).pipe(
    Effect.provide([PaymentsClient.layer(settingsFor(server.url)), Logger.layer([logger])]),
    Effect.runPromise,
  );
  expect(said).toStrictEqual([
    "createPayout: fields of its answer cannot be read and are left out: status, amount",
  ]);
});
