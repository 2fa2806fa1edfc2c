import { expect, it } from "vitest";
import { masked } from "../../src/history/masked.ts";

it.each([
  [{ account_number: 123456789 }, { account_number: "[redacted]" }],
  [
    { note: 123456789, small: 1234567.5 },
    { note: "[redacted]", small: 1234567.5 },
  ],
  [{ payout_id: 123456789 }, { payout_id: "123456789" }],
  [[{ begunAt: 1_795_255_200_000 }], [{ begunAt: "2026-11-21T10:00:00.000Z" }]],
  [{ since: 1e300 }, { since: 1e300 }],
  [
    { number: 2, isSamePayload: true, ids: null },
    { number: 2, isSamePayload: true, ids: null },
  ],
  [{ reason: "account 000123456789" }, { reason: "account [redacted]" }],
])("%j is shown as %j", (value, shown) => {
  expect(masked<unknown>(value)).toStrictEqual(shown);
});

it("leaves undefined alone", () => {
  expect(masked(undefined)).toBeUndefined();
});
