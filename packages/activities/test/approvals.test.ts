import type { Input } from "@durable-payments/api-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { activitiesFor, environment, failureOf, run } from "./support/activities.ts";
import { card, payout } from "./support/bodies.ts";
import { type RawService, refusal, startRawService } from "./support/raw-service.ts";

let service: RawService;
let made: ReturnType<typeof activitiesFor>;
beforeEach(async () => {
  service = await startRawService(() => refusal("It was sent."));
  made = activitiesFor(service.url, {}, { approveAbove: { USD: "100.00" } });
});
afterEach(async () => {
  await made.close();
  await service.stop();
});

const above = { ...payout, amount: "100.01" };
const send = { step: "createPayout", number: 1 } as const;

const pay = (input: Input<"createPayout">, more: object = {}) =>
  failureOf(environment().run(made.activities.createPayout, input, { ...send, ...more }));

const withdrawal = {
  card_id: "card-1",
  card_number: "4111111111111111",
  amount: "100.01",
  unique_request_id: "key-1",
};

describe("what no second person has approved", () => {
  it("is not sent above the limit of its currency, nor in one without a limit", async () => {
    const failures = [
      await pay(above),
      await pay({ ...payout, amount: "0.01", currency: "EUR" }),
      await pay({ ...payout, amount: "50.00" }, { approveAbove: "49.99" }),
      await failureOf(run(made.activities.createCard, { ...card, card_limit: "100.01" })),
      await failureOf(run(made.activities.withdrawFromCard, withdrawal)),
    ];
    for (const failure of failures) {
      expect(failure).toMatchObject({ type: "NeedsApproval", nonRetryable: true });
    }
    expect(failures.map(({ details }) => details?.[0])).toEqual([
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
      { why: "in EUR, which PAYMENTS_APPROVE_ABOVE does not list" },
      { why: "above 49.99" },
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
      { why: "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)" },
    ]);
    expect(service.received).toEqual([]);
  });

  it("is sent up to it", async () => {
    expect(await pay({ ...payout, amount: "100.00" })).toMatchObject({ type: "Refused" });
    // A run raises nothing.
    expect(await pay(above, { approveAbove: "5000" })).toMatchObject({ type: "NeedsApproval" });
  });

  it("is sent once it is approved; no proof is one that a worker has not made", async () => {
    expect(await pay(above, { approvedBy: "Bob" })).toMatchObject({ type: "Refused" });
    for (const approval of ["", "x", "A".repeat(43)]) {
      expect(await pay(above, { approval })).toMatchObject({ type: "NeedsApproval" });
    }
  });
});

it("a run learns from its check that its requests need an approval", async () => {
  const planned = { operation: "createPayout", input: payout, at: "payout" } as const;
  const check = (amount: string) =>
    run(made.activities.checkRequests, [{ ...planned, input: { ...payout, amount } }]);
  const account = await check("100.00");
  expect(account).toEqual(expect.any(String));
  expect(await check("100.01")).toEqual({ account, approval: "needed" });
});

it.each([
  [{ amount: "100.01", currency: "USD" }, "above 100.00 USD (PAYMENTS_APPROVE_ABOVE)"],
  [{ amount: "100.00", currency: "USD" }, false],
  [{ amount: "100.00", currency: "USD", limit: "99" }, true],
  // Of a run that was begun before, whose approval is asked by its own limit alone.
  [{ amount: "100.01", limit: "1000" }, false],
])("isAbove of %j is %j", async (compared, isAbove) => {
  expect(await run(made.activities.isAbove, compared)).toBe(isAbove);
});
