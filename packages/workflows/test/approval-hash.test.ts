import { expect, it } from "vitest";
import { approvalHash } from "../src/steps/approval.ts";

it("an approval is of what is paid, and never of nothing", () => {
  expect(approvalHash({ amount: "1.00" })).not.toBe(approvalHash({ amount: "2.00" }));
  expect(approvalHash(null)).toMatch(/./);
  expect(() => approvalHash(undefined)).toThrow("What is to be approved (payload) is missing.");
});
