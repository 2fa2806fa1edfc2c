import { expect, it } from "vitest";
import { isNamedIn } from "../../src/history/sends.ts";

it.each([
  ["createPayout", "createPayout", true],
  ["createBeneficiary createPayout (2)", "createPayout (2)", true],
  ["createPayout (2) createBeneficiary", "createPayout (2)", true],
  ["createPayout", "createPayout (2)", false],
  ["createBeneficiary", "createPayout", false],
  ["", "createPayout", false],
])("PaymentInDoubt %j names %s: %s", (inDoubt, step, isNamed) => {
  expect(isNamedIn(inDoubt, step)).toBe(isNamed);
});
