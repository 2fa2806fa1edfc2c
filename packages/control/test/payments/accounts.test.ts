import { expect, it } from "vitest";
import { openPayments } from "../../src/payments/index.ts";
import { beneficiary, payout } from "../support/payments.ts";

const access = { baseUrl: "http://127.0.0.1:9", clientId: "c" };
const named = { eu: { baseUrl: "http://127.0.0.1:9", clientId: "e", apiKey: "k" } };

it.each([
  ["default", access, "The only account here has no name"],
  ["nobody", { ...access, accounts: named }, "Name one of these (account): eu."],
] as const)(
  "an input names only an account that a queue has: %s",
  async (account, settings, why) => {
    await using payments = await openPayments(settings);
    const paid = payments.pay({ beneficiary, payout: payout("p-1"), account }, { by: "ada" });
    await expect(paid).rejects.toMatchObject({
      name: "InvalidInput",
      message: expect.stringContaining(why) as unknown,
    });
  },
);

it("a tool names an account by its name, by default for the unnamed one, or by its hash", async () => {
  await using payments = await openPayments({ ...access, accounts: named });
  const [unnamed, eu] = payments.accounts.map(({ hash }) => hash);
  expect([undefined, "default", unnamed].map((name) => payments.account(name))).toEqual([
    unnamed,
    unnamed,
    unnamed,
  ]);
  expect(payments.account("eu")).toBe(eu);
  expect(() => payments.account("nobody")).toThrow("Name one of these (account): default, eu.");
});
