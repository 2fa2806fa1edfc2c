import { defaultAssumptions } from "@durable-payments/api-core";
import { beneficiary, card, cardholder, payout } from "@durable-payments/tools/test-data";
import { describe, expect, it } from "vitest";
import { InvalidInput } from "../../src/errors.ts";
import { amendInput } from "../../src/retry/amend.ts";

/** The faults that an amendment is refused for, or why it is. */
const faultsOf = (type: string, input: unknown, patch: unknown): ReadonlyArray<string> => {
  try {
    amendInput(type, { input, patch, assumptions: defaultAssumptions });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.faults?.map(({ field, problem }) => `${field} ${problem}`) ?? [error.message];
  }
};

describe("an amendment", () => {
  it.each(["payoutBatch", "tracker", "notifier"])("of a run of type %s is refused", (type) => {
    expect(faultsOf(type, {}, { payout })).toEqual([
      `The input of a run of ${type} cannot be amended: none of its fields can. Nothing was done.`,
    ]);
  });

  it.each(["__proto__", "constructor", "myOwn"])(
    "of a run of type %s, which is a user's own, is for its worker to check",
    (type) => {
      const amendment = amendInput(type, {
        input: { first: { amount: "1.00" } },
        patch: { first: { amount: "2.00" } },
        assumptions: defaultAssumptions,
      });
      expect(amendment).toEqual({
        input: { first: { amount: "2.00" } },
        fields: [{ field: "first.amount", step: undefined }],
        isCheckedByWorker: true,
      });
    },
  );

  it("names the fields that change, each with the last step that uses it", () => {
    const input = { cardholder, card };
    const patch = {
      cardholder: { email: "ada@other.example", first_name: cardholder.first_name },
      card: { card_limit: "5.00", card_name: "Trips" },
    };
    const { fields, input: amended } = amendInput("onboardCardholder", {
      input,
      patch,
      assumptions: defaultAssumptions,
    });
    expect(fields).toEqual([
      { field: "cardholder.email", step: "createCardholder" },
      { field: "card.card_limit", step: "issueCard" },
      { field: "card.card_name", step: "confirmCard" },
    ]);
    expect(amended).toEqual({
      cardholder: { ...cardholder, email: "ada@other.example" },
      card: { ...card, card_limit: "5.00", card_name: "Trips" },
    });
  });

  it("is refused where it changes what no step to come would see", () => {
    const input = { beneficiary, payout };
    expect(faultsOf("payout", input, { options: { approval: { above: "1.00" } } })).toEqual([
      "options.approval.above cannot be amended",
    ]);
    expect(faultsOf("payout", input, { beneficiary: null, beneficiary_id: "b-1" })).toEqual([
      "beneficiary cannot be amended",
    ]);
    expect(faultsOf("payout", input, { payout: { unique_request_id: "k-1" } })).toEqual([
      "payout.unique_request_id is made by the run: leave it out",
    ]);
  });

  it.each(["payout", "onboardCardholder"])(
    "is refused for the account that pays: of %s",
    (type) => {
      const input = { beneficiary, payout, cardholder, card };
      for (const [from, to] of [
        ["eu", "us"],
        ["eu", null],
        [undefined, "eu"],
      ]) {
        expect(faultsOf(type, { ...input, account: from }, { account: to })).toEqual([
          "account cannot be amended",
        ]);
      }
    },
  );

  it("is refused where it is none", () => {
    expect(faultsOf("payout", { beneficiary, payout }, "amount")).toEqual([
      "The patch must be a JSON object of the shape of the run's input.",
    ]);
  });
});
