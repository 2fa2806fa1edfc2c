import { describe, expect, it } from "vitest";
import { type OperationName, operationNames } from "../../src/index.ts";
import { operation } from "../../src/contract.ts";
import { answers } from "../support/responses.ts";
import { exchange, failedExchange } from "../support/client.ts";
import { requests } from "../support/requests.ts";

describe.each(operationNames)("%s", (name) => {
  it("reads the least that the document promises", async () => {
    const { result } = await exchange(name, requests[name], answers[name]);
    expect(result === undefined || typeof result === "object").toBe(true);
  });

  it("is sent on a dedicated connection where it must not be left in doubt", async () => {
    const { sent } = await exchange(name, requests[name], answers[name]);
    const isOnce = ["createPayout", "createCardholder", "createBeneficiary"].includes(name);
    expect(sent.headers.connection).toBe(isOnce ? "close" : "keep-alive");
  });

  it("reads a code that is a text, a message that is null or missing, and unknown fields", async () => {
    const { body, ...rest } = answers[name];
    const { message: _, ...envelope } = body as Record<string, unknown>;
    const plain = await exchange(name, requests[name], answers[name]);
    const variants =
      name === "ping"
        ? [{ ...envelope, message: "pong", trace: "x" }]
        : [
            { ...envelope, message: null, trace: { id: 7 } },
            { ...envelope, code: "200" },
          ];
    for (const variant of variants) {
      const { result } = await exchange(name, requests[name], { ...rest, body: variant });
      expect(result).toStrictEqual(plain.result);
    }
  });

  it("fails as refused on code 400, whatever the HTTP status of success or refusal", async () => {
    for (const status of [200, 201, 400, 403, 404, 422]) {
      for (const code of [400, "400"]) {
        const { error, requests: sent } = await failedExchange(name, requests[name], {
          status,
          body: { code, message: "Balance is too low" },
        });
        expect(error).toMatchObject({
          _tag: "Refused",
          operation: name,
          carriedOut: "no",
          code: 400,
          reason: "Balance is too low",
          message: `${name} was refused: Balance is too low`,
        });
        expect(sent).toHaveLength(1);
      }
    }
  });

  it("fails as refused with the code alone where there is no message", async () => {
    const { error } = await failedExchange(name, requests[name], { body: { code: 400 } });
    expect(error).toMatchObject({
      _tag: "Refused",
      reason: "",
      message: `${name} was refused: code 400`,
    });
  });
});

const enveloped = operationNames.filter((name) => name !== "ping");
const isRead = (name: OperationName) => operation(name).idempotency === "safe";

/** The right answer of an operation, but for its message. */
const withMessage = (name: OperationName, message: string) => ({
  body: { ...(answers[name].body as object), message },
});

it.each(enveloped.filter(isRead))("%s reads a success whatever its message", async (name) => {
  const plain = await exchange(name, requests[name], answers[name]);
  const { result } = await exchange(name, requests[name], withMessage(name, "All good"));
  expect(result).toStrictEqual(plain.result);
});

it.each(enveloped.filter((name) => !isRead(name)))(
  "%s is in doubt after code 200 with another message, and not sent again",
  async (name) => {
    const { error, requests: sent } = await failedExchange(
      name,
      requests[name],
      withMessage(name, "Card cannot be frozen"),
    );
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      carriedOut: "unknown",
      message: `${name} was answered with code 200 and another message than "Success": Card cannot be frozen.`,
    });
    expect(sent).toHaveLength(1);
  },
);

it.each(enveloped)("%s is no refusal where its message is a success", async (name) => {
  for (const status of [200, 400]) {
    const { error } = await failedExchange(name, requests[name], {
      status,
      body: { code: 400, message: " success ", data: { id: "p-1" } },
    });
    expect(error).toMatchObject({
      _tag: "UnexpectedAnswer",
      carriedOut: isRead(name) ? "no" : "unknown",
    });
  }
});

describe("an id", () => {
  const IDS: ReadonlyArray<readonly [OperationName, string]> = [
    ["createPayout", "id"],
    ["createBeneficiary", "beneficiary_id"],
    ["createCardholder", "card_holder_id"],
    ["createCard", "card_id"],
    ["retrieveBalance", "balance_id"],
    ["retrievePayout", "payout_id"],
  ];

  it.each(IDS)("of %s must be one: %s", async (name, field) => {
    const { data } = answers[name].body as { readonly data: object };
    // An empty one leads nowhere.
    for (const id of ['""', "null", "true", "1e400", "{}"]) {
      const written = JSON.stringify({ ...data, [field]: "?" }).replace('"?"', id);
      const { error } = await failedExchange(name, requests[name], {
        body: `{"code":200,"message":"Success","data":${written}}`,
      });
      expect(error).toMatchObject({
        _tag: "UnexpectedAnswer",
        message: `${name} was answered with success, but not in the documented shape.`,
      });
    }
  });

  it.each(IDS)("of %s keeps every digit of a long number: %s", async (name, field) => {
    const { data } = answers[name].body as { readonly data: object };
    for (const id of ["12345678901234567890", "9007199254740993", "1234567"]) {
      const written = JSON.stringify({ ...data, [field]: "?" }).replace('"?"', id);
      const { result } = await exchange(name, requests[name], {
        body: `{"code":200,"message":"Success","data":${written}}`,
      });
      expect(Object.values(result as object)).toContain(id);
    }
  });
});
