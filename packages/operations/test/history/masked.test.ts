import { redact } from "@durable-payments/api-core";
import * as fc from "fast-check";
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
  [{ payout_reference: "ＤＥ８９.3704.0044_0532013000" }, { payout_reference: "…3000" }],
  [{ reason: "account 000123456789" }, { reason: "account [redacted]" }],
  [{ 123456789012: "a" }, { "[redacted]": "a" }],
  [
    { IBAN: ["DE", "89"], iban: null },
    { IBAN: "[redacted]", iban: null },
  ],
  [{ message: '{"iban":"DE89370400440532013000"}' }, { message: '{"iban":"[redacted]"}' }],
  [
    { message: 'The request {"account_number":12345678901} was refused' },
    { message: 'The request {"account_number":"[redacted]"} was refused' },
  ],
  [
    { body: '{"errors":"{\\"iban\\":\\"DE89370400440532013000\\"}"}' },
    { body: '{"errors":"{\\"iban\\":\\"[redacted]\\"}"}' },
  ],
  [{ message: '"iban":"DE89370400440532013000' }, { message: '"iban":"[redacted]"' }],
])("%j is shown as %j", (value, shown) => {
  expect(masked<unknown>(value)).toStrictEqual(shown);
});

const SECRET = "DE89370400440532013000";

/** Pieces of what the service may answer, or repeat: put together, they are JSON, nearly JSON, or none. */
const PIECES = `"iban" "account_number" card_number ${SECRET} "${SECRET}" 12345678901 payout_id Bearer`;
const echo = fc
  .array(
    fc.oneof(fc.constantFrom(...PIECES.split(" ")), fc.constantFrom(...':=,{}[]"\\ '.split(""))),
  )
  .map((parts) => parts.join(""));

it("can be read whatever texts there are in it, and has no account number", () => {
  const leaf = fc.oneof(echo, fc.integer(), fc.double(), fc.constant(null), fc.boolean());
  const name = fc.oneof(echo, fc.constantFrom("iban", "message", "note", "since"));
  const { data } = fc.letrec((tie) => ({
    data: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie("data"), { maxLength: 3 }),
      fc.dictionary(name, tie("data"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(data, echo, (value, message) => {
      expect(JSON.stringify(masked({ value }))).toEqual(expect.any(String));
      expect(masked({ message }).message).toBe(redact(message));
    }),
  );
});

it("leaves undefined alone", () => {
  expect(masked(undefined)).toBeUndefined();
});
