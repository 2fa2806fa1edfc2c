import { expect, it } from "vitest";
import { withoutGroups } from "../../src/evidence/amounts.ts";

it.each([
  ["4,983,830.57", "4983830.57"],
  ["4.983.830,57", "4983830.57"],
  ["4'983'830.57", "4983830.57"],
  [" 100.00 ", "100.00"],
  ["1,5", "1,5"],
])("groups of digits are read: %s", (shown, plain) => {
  expect(withoutGroups(shown)).toBe(plain);
});
