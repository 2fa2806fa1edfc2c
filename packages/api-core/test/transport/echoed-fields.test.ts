import { Schema, SchemaAST } from "effect";
import { describe, expect, it } from "vitest";
import {
  type Assumptions,
  defaultAssumptions,
  type OperationName,
  operationNames,
} from "../../src/index.ts";
import { operation } from "../../src/contract.ts";
import type { Echo, EchoKind } from "../../src/contract/operation-facts.ts";
import { exchange, failedExchange, isPaymentsError } from "../support/client.ts";
import { requests } from "../support/requests.ts";
import { answers } from "../support/responses.ts";
import { type Reply, success } from "../support/server.ts";

/** Every write, with all that its answer may repeat. */
const sent: Readonly<Record<OperationName, object>> = {
  ...requests,
  createBeneficiary: { ...requests.createBeneficiary, iban: "DE89370400440532013000" },
  createPayout: {
    ...requests.createPayout,
    payer_id: "3b6f1a52-4f51-4ddd-9c4f-0c2f7a7f1a02",
    unique_request_id: "2b8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c3d",
  },
};

/** As the same may be shown, and as it is another. */
const ways: Readonly<
  Record<EchoKind, { readonly same: (text: string) => Array<unknown>; readonly other: string }>
> = {
  amount: {
    same: (text) => [text, `0${text}`, `${text}00`, Number(text), `${text} USD`, "", null, "0.00"],
    other: "5000.00",
  },
  currency: { same: (text) => [text, text.toLowerCase(), "US dollars", "", null], other: "EUR" },
  id: {
    same: (text) => [text, ` ${text} `, text.toUpperCase(), text.replaceAll("-", ""), "", null],
    other: "9c8f5a54-6f0f-5f3e-9a10-3a1f6f1f2c99",
  },
  number: {
    same: (text) => [text, text.slice(-4), `****${text.slice(-4)}`, "", null],
    other: "4999888877776666",
  },
};

const nested = ([name = "", ...rest]: ReadonlyArray<string>, value: unknown): object => ({
  [name]: rest.length === 0 ? value : JSON.stringify(nested(rest, value)),
});

/** The least answer of an operation, with a field shown as `value`. */
const showing = (name: OperationName, path: ReadonlyArray<string>, value: unknown): Reply => {
  const { body } = answers[name] as { readonly body: { readonly data: object } };
  return success({ ...body.data, ...nested(path, value) });
};

const writes = operationNames.filter((name) => operation(name).idempotency !== "safe");

const echoes = writes.flatMap((name) =>
  Object.entries(operation(name).echoes).map(
    ([field, echo]): readonly [OperationName, string, Echo] => [name, field, echo],
  ),
);

/** All that an answer may repeat. */
const all = {
  echoedFields: {
    ...defaultAssumptions.echoedFields,
    createPayout: ["amount", "currency", "beneficiary_id", "payer_id", "unique_request_id"],
  },
} as const;

const outcomeOf = (
  name: OperationName,
  input: unknown,
  reply: Reply,
  assumptions: Partial<Assumptions> = {},
): Promise<string> =>
  exchange(name, input, reply, { assumptions }).then(
    () => "Success",
    (error: unknown) =>
      isPaymentsError(error) ? `${error._tag} ${error.carriedOut}` : String(error),
  );

describe.each(echoes)("%s shows %s", (name, field, { as, shownAs = [field] }) => {
  const text = String(Object.entries(sent[name]).find(([one]) => one === field)?.[1]);

  it("as it was sent, however it is written: a success", async () => {
    // The id of an answer is never missing.
    const isId = field === "card_id";
    const values = ways[as].same(text).filter((one) => !isId || (one !== "" && one !== null));
    const outcomes = values.map((value) =>
      outcomeOf(name, sent[name], showing(name, shownAs, value), all),
    );
    expect(new Set(await Promise.all(outcomes))).toStrictEqual(new Set(["Success"]));
  });

  it("as another: about something else, outcome unknown, not sent again", async () => {
    const reply = showing(name, shownAs, ways[as].other);
    const { error, requests: made } = await failedExchange(name, sent[name], reply, {
      assumptions: all,
    });
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      carriedOut: "unknown",
      contradicts: [field],
    });
    expect(error.message).toContain("success, but about something else: ");
    expect(error.message).toContain(field);
    expect(made).toHaveLength(1);
    const said = `${ways[as].other} instead of ${text}`;
    expect(error.message.includes(said)).toBe(as !== "number");
    // No number of a card or an account is shown.
    const numbers = as === "number" ? [text, ways[as].other] : [];
    expect(numbers.filter((number) => JSON.stringify(error).includes(number))).toStrictEqual([]);
  });

  it("as another: a success where the service is said not to repeat it", async () => {
    const reply = showing(name, shownAs, ways[as].other);
    const assumptions = { echoedFields: { ...defaultAssumptions.echoedFields, [name]: [] } };
    expect(await outcomeOf(name, sent[name], reply, assumptions)).toBe("Success");
  });
});

/** The names of the fields of an answer. */
const fieldsOfAnswer = (schema: Schema.Top): ReadonlyArray<string> => {
  const { ast } = Schema.toType(schema);
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : [];
};

it("what has one name in request and answer of a write is repeated, or is said not to be", () => {
  /** Words that a service may write in another way, and ids that it may give otherwise. */
  const NOT_COMPARED: Readonly<Record<string, ReadonlyArray<string>>> = {
    createPayout: ["payout_reason", "payout_reference", "payment_date"],
    createBeneficiary: ["entity_type", "payment_method"],
  };
  for (const name of writes) {
    const { echoes: declared, params, payload, success: answer } = operation(name);
    const requested = [...(params?.fields ?? []), ...(payload?.fields ?? [])];
    const known = [...Object.keys(declared), ...(NOT_COMPARED[name] ?? [])];
    const both = fieldsOfAnswer(answer).filter((field) => requested.includes(field));
    expect(both.filter((field) => !known.includes(field))).toStrictEqual([]);
  }
});

it("what is repeated by default is declared by the contract", () => {
  const declared = echoes.map(([name, field]) => `${name} ${field}`);
  const byDefault = Object.entries(defaultAssumptions.echoedFields).flatMap(([name, fields]) =>
    fields.map((field) => `${name} ${field}`),
  );
  expect(byDefault.filter((one) => !declared.includes(one))).toStrictEqual([]);
});

it("a contradicting answer to a repeat leaves a keyed write in doubt", async () => {
  const other = success({ card_id: "other", card_status: "pending", unique_request_id: "k-other" });
  const request = { ...requests.createCard, unique_request_id: "k1" };
  const { error, requests: made } = await failedExchange("createCard", request, (_received, n) =>
    n === 0 ? ({ socket }) => socket.destroy() : other,
  );
  expect(error).toMatchObject({
    _tag: "UnexpectedAnswer",
    carriedOut: "unknown",
    message:
      "createCard was answered with success, but about something else: unique_request_id k-other instead of k1.",
  });
  expect(made).toHaveLength(2);
});

it.each([
  ["10", "1"],
  ["1", "10"],
  ["order-1", "order-10"],
])("a key %s is not %s", async (unique_request_id, shown) => {
  const request = { ...requests.createCard, unique_request_id };
  const reply = showing("createCard", ["unique_request_id"], shown);
  const { error } = await failedExchange("createCard", request, reply);
  expect(error).toMatchObject({ _tag: "UnexpectedAnswer", carriedOut: "unknown" });
});

it.each([
  ["1000.00", "1,000.00", true],
  ["1000.00", "1.000,00", true],
  ["1000.00", "1.000", true],
  ["0.30", 0.1 + 0.2, true],
  ["12.50", "12.51", false],
  ["12.50", "1250", false],
  ["12.50", "-", true],
  ["99999999999.99", "99999999999.98", false],
] as const)("an amount %s that is shown as %s is the same: %s", async (amount, shown, isSame) => {
  const request = { ...requests.createPayout, amount };
  const reply = showing("createPayout", ["amount"], shown);
  const outcome = await outcomeOf("createPayout", request, reply);
  expect(outcome).toBe(isSame ? "Success" : "UnexpectedAnswer unknown");
});

it("an amount may differ by the fee that is shown, and by nothing else", async () => {
  const shown = (fee_amount: string): Reply =>
    success({ id: "p-1", amount: "102.00", currency: "USD", fee_amount });
  const outcome = (fee: string) => outcomeOf("createPayout", requests.createPayout, shown(fee));
  expect(await outcome("1.50")).toBe("Success");
  expect(await outcome("1.49")).toBe("UnexpectedAnswer unknown");
});
