import { defaultAssumptions } from "@durable-payments/client/effect";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { expect, test } from "vitest";
import { checkId, planPayout, warningsOf } from "../../src/rules/input.ts";
import { paymentOf, summaryOf } from "../../src/rules/payment.ts";

const payout = {
  amount: "250.00",
  currency: "eur",
  payout_reason: "Payment for goods",
  payout_reference: "Invoice 17",
  payment_date: "2026-12-01",
  is_payer: "Y",
};
const plan = (input: unknown) => planPayout(input, defaultAssumptions);

test("the id is made of the content: spelling and options make no other payment", () => {
  const one = plan({ beneficiary_id: "b-1", payout });
  const same = plan({
    beneficiary_id: "b-1",
    payout: { ...payout, amount: "250.0", currency: "EUR" },
    options: { completeWithin: "5 days" },
  });
  expect(same.contentId).toBe(one.contentId);
  expect(one.input.payout.currency).toBe("EUR");
  expect(plan({ beneficiary_id: "b-2", payout }).contentId).not.toBe(one.contentId);
});

test("all faults are named at once", () => {
  const faulty = {
    beneficiary_id: "b-1",
    payout: { ...payout, amount: "x", extra: 1 },
    options: { what: 1 },
  };
  expect(() => plan(faulty)).toThrow(
    expect.objectContaining({
      faults: expect.arrayContaining([
        expect.objectContaining({ field: "payout.amount" }),
        expect.objectContaining({ field: "payout.extra" }),
        expect.objectContaining({ field: "options.what" }),
      ]),
    }),
  );
  // A program logs the message.
  expect(() => plan(faulty)).toThrow(
    /^The input is invalid: payout\.amount .*; payout\.extra .*; options\.what .*\. Nothing was started\.$/,
  );
  expect(() => plan({ payout })).toThrow("The input is invalid");
});

test.each(["", " ", "payouts/1", "tracker/x", "a\u0000b", "x".repeat(1_001)])(
  "the id %j is refused",
  (id) => {
    expect(() => checkId(id)).toThrow();
  },
);

test("what a run pays is shown without an account number", () => {
  const iban = "DE89370400440532013000";
  const input = {
    beneficiary: { iban, account_holder: "Grace" },
    payout: { ...payout, payout_reference: `to ${iban}` },
  };
  const payment = paymentOf(input);
  expect(summaryOf(payment, "payout")).toBe("EUR 250.00, to …3000");
  expect(JSON.stringify(payment)).not.toContain(iban);
  // The ledger keys the mark of the account, but not the id of a beneficiary.
  const ledger = { keyed: (mark: string) => `keyed ${mark}` };
  expect(paymentOf(input, ledger)?.payee).toBe(`keyed ${payment?.payee}`);
  expect(paymentOf({ beneficiary_id: "b-1", payout }, ledger)?.payee).toBe("b-1");
});

test.each([
  ["nothing", {}, "2026-12-01", []],
  ["a currency that does not exist", { currency: "EUX" }, "2026-11-30", ["EUX is not a currency"]],
  ["a date in the past", {}, "2026-12-02", ["The payment date 2026-12-01 is in the past"]],
])("warns of %s", (_, more, today, expected) => {
  const planned = plan({ beneficiary_id: "b-1", payout: { ...payout, ...more } });
  const warnings = warningsOf(planned, Date.parse(`${today}T23:59:00Z`));
  expect(warnings).toEqual(expected.map((text): unknown => expect.stringContaining(text)));
});

test("warns of an account in another currency", () => {
  const { currency: _, ...rest } = payout;
  const planned = plan({ beneficiary: inputs.beneficiary, payout: { ...rest, currency: "USD" } });
  expect(warningsOf(planned, 0)).toEqual(["It pays USD to an account in EUR."]);
});
