import * as BigDecimal from "effect/BigDecimal";
import { expect, it } from "vitest";
import { formatAmount, isAtLeast } from "../src/decimal.ts";
import { canonicalDecimal, isRecord, messageOf } from "../src/values.ts";

it.each([
  ["100", "USD", "100.00"],
  ["100", "JPY", "100"],
  ["0.1", "BHD", "0.100"],
  ["-12.5", "EUR", "-12.50"],
  ["12.345", "EUR", "12.345"],
  ["0", "USD", "0.00"],
])("an amount is written with the digits of its currency: %s %s", (amount, currency, written) => {
  expect(formatAmount(BigDecimal.fromStringUnsafe(amount), currency)).toBe(written);
});

it.each([
  ["100.00", "100", true],
  ["99.99", "100", false],
  ["9007199254740993", "9007199254740992", true],
  ["9007199254740992", "9007199254740993", false],
  ["-1", "0", false],
  ["much", "0", false],
  ["1", "", false],
])("amounts are compared exactly: %s is at least %s: %s", (available, needed, isEnough) => {
  expect(isAtLeast(available, needed)).toBe(isEnough);
});

it.each([
  ["051.50", "51.5"],
  ["51.0", "51"],
  ["0.00", "0"],
  ["000", "0"],
  ["-1", undefined],
  ["1e3", undefined],
  [".5", undefined],
  ["", undefined],
])("a decimal has one canonical form: %s is %s", (text, canonical) => {
  expect(canonicalDecimal(text)).toBe(canonical);
});

it("knows a record and a message", () => {
  expect([{}, [], null, "a", undefined].map(isRecord)).toStrictEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect([messageOf(new Error("lost")), messageOf("text"), messageOf(undefined)]).toStrictEqual([
    "lost",
    "text",
    "undefined",
  ]);
});
