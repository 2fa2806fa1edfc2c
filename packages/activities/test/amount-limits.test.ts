import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAmountLimits } from "../src/index.ts";
import { activitiesFor, failureOf, run } from "./support/activities.ts";
import { card, payout } from "./support/bodies.ts";
import { type RawService, refusal, startRawService } from "./support/raw-service.ts";

const withdrawal = {
  card_id: "card-1",
  card_number: "4111111111111111",
  amount: "1.00",
  unique_request_id: "key-1",
};

describe("above the limit of its currency", () => {
  let service: RawService;
  let made: ReturnType<typeof activitiesFor>;
  beforeEach(async () => {
    service = await startRawService(() => refusal("It was sent."));
    made = activitiesFor(service.url, {}, { maxAmounts: { USD: "100.00" } });
  });
  afterEach(async () => {
    await made.close();
    await service.stop();
  });

  const pay = (changes: { readonly amount?: string; readonly currency?: string }) =>
    failureOf(run(made.activities.createPayout, { ...payout, ...changes }));

  it("nothing is sent", async () => {
    const failures = [
      await pay({ amount: "100.01" }),
      await failureOf(run(made.activities.createCard, { ...card, card_limit: "1000" })),
      // As they may come in JSON: a currency in lower case, a card's limit as a number.
      await pay({ amount: "100.01", currency: "usd" }),
      await failureOf(run(made.activities.withdrawFromCard, { ...withdrawal, amount: "100.01" })),
      await failureOf(
        run(made.activities.createCard as (input: unknown) => Promise<unknown>, {
          ...card,
          card_limit: 1000,
        }),
      ),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
      expect(failure.message).toContain("is above the limit of 100.00 USD (PAYMENTS_MAX_AMOUNTS)");
    }
    expect(service.received).toEqual([]);
  });

  it("a run learns so before it has created anything", async () => {
    const failure = await failureOf(
      run(made.activities.checkRequests, [
        { operation: "createPayout", input: { ...payout, amount: "100.01" }, at: "payout" },
        {
          operation: "createCard",
          input: { product_code: "prepaid-usd", card_limit: "100.001" },
          later: ["card_holder_id", "balance_id", "unique_request_id"],
          at: "card",
        },
      ]),
    );
    expect(failure.message).toContain("payout.amount is above the limit");
    expect(failure.message).toContain("card.card_limit is above the limit");
  });

  it("but up to it, it is", async () => {
    for (const changes of [{ amount: "100" }, { amount: "100.00" }]) {
      expect(await pay(changes)).toMatchObject({ type: "Refused" });
    }
    expect(service.received).toHaveLength(2);
  });

  it("a currency that is not listed is none to pay in, once others are", async () => {
    const failure = await pay({ amount: "0.01", currency: "EUR" });
    expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
    expect(failure.message).toContain("is in EUR, which PAYMENTS_MAX_AMOUNTS does not list");
    expect(service.received).toEqual([]);
  });
});

describe("isAbove", () => {
  const made = activitiesFor("http://127.0.0.1:1");
  afterEach(() => made.close());

  it.each([
    ["100.01", "100", {}],
    ["100.00", "100", false],
    ["99.995", "99.99", {}],
    // A limit that cannot be read lets nothing pass.
    ["1.00", "a lot", {}],
  ])("%s above %s: %s", async (amount, limit, isAbove) => {
    expect(await run(made.activities.isAbove, { amount, limit })).toEqual(isAbove);
  });
});

describe("PAYMENTS_MAX_AMOUNTS", () => {
  const read = (text: string | undefined) => readAmountLimits("PAYMENTS_MAX_AMOUNTS", text);

  it("is a JSON object, and may be left out", () => {
    expect(read('{"USD":"10000.00","EUR":"1"}')).toEqual({ USD: "10000.00", EUR: "1" });
    expect(read(undefined)).toBeUndefined();
    // One that is set and lists nothing lets nothing be paid.
    expect(read("{}")).toEqual({});
  });

  it.each([
    "",
    " ",
    '{"USD":"1","USD":"1000000"}',
    '{"USD":"1","\\u0055SD":"1000000"}',
    '{"USD":"1e3"}',
    '{"USD":"-1"}',
    '{"USD":" 1"}',
    '{"USD":""}',
    "10000",
    '"10000"',
    "[]",
    "null",
    "{",
    '{"usd":"1"}',
    '{"USD":1}',
    '{"USD":"1,000"}',
  ])("is never taken for no limit: %s", (text) => {
    expect(() => read(text)).toThrow("PAYMENTS_MAX_AMOUNTS must be a JSON object");
  });
});
