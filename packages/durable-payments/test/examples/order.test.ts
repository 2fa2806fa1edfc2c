import { defineOperation } from "durable-payments/worker";
import { createPaymentsTest, type PaymentsTestOptions } from "durable-payments/testing";
import { expect, test } from "vitest";
import { type Order, payOrder } from "./order.ts";

const payment = {
  currency: "USD",
  payout_reason: "Payment for goods",
  payment_date: "2026-12-01",
  is_payer: "Y",
} as const;

const order: Order = {
  orderId: "17",
  supplier: {
    bank_country: "DE",
    account_currency: "USD",
    entity_type: "company",
    email: "accounts@example.com",
    nickname: "Example supplier",
    company_name: "Example Supplies GmbH",
    payment_method: "swift",
    bank_name: "Example Bank",
    bank_address: "Example Street 1, Berlin",
    account_holder: "Example Supplies GmbH",
    iban: "DE89370400440532013000",
    country_code: "DE",
    city: "Berlin",
    state: "Berlin",
    address: "Example Street 2",
    postal_code: "10115",
  },
  deposit: { ...payment, amount: "12.50", payout_reference: "Order 17, deposit" },
  balance: { ...payment, amount: "37.50", payout_reference: "Order 17, balance" },
};

/** A warehouse, which ignores a repeated key, and a test of the order's workflow with it. */
const makeTest = async (
  settings: Pick<PaymentsTestOptions, "approveAbove" | "maxAmounts"> = {},
) => {
  const reserved = new Map<string, string>();
  const reserveGoods = defineOperation<{ readonly orderId: string }>({
    repeat: "keyed",
    send: async ({ orderId }, { key }) => {
      reserved.set(key, orderId);
      return { id: key };
    },
    undo: async (id) => void reserved.delete(id),
  });
  const payments = await createPaymentsTest({
    workflowsPath: import.meta.resolve("./order.ts"),
    operations: { reserveGoods },
    ...settings,
    simulator: { settleAfter: "3 days" },
    // It ends what hangs, and judges no speed.
    waitLimitMs: 120_000,
  });
  return { payments, reserved };
};

test("an order is paid in two parts, though the answer to the first is lost", async () => {
  const { payments: made, reserved } = await makeTest();
  await using payments = made;
  await payments.fault("dropped", { operation: "createPayout" });
  await payments.run(payOrder, [order]);
  expect((await payments.service()).payouts).toHaveLength(2);
  expect([...reserved.values()]).toEqual(["17"]);
  await payments.replay();
});

test("an order whose deposit fails leaves nothing reserved", async () => {
  const { payments: made, reserved } = await makeTest();
  await using payments = made;
  // The service does not carry out what has such a reference.
  const failing = { ...order, deposit: { ...order.deposit, payout_reference: "FAIL deposit" } };
  await expect(payments.run(payOrder, [failing])).rejects.toMatchObject({
    cause: { type: "PayoutFailed" },
  });
  expect((await payments.service()).payouts).toHaveLength(1);
  expect([...reserved.values()]).toEqual([]);
});

test("an order whose deposit is above the limit leaves nothing reserved", async () => {
  const { payments: made, reserved } = await makeTest({ maxAmounts: { USD: "10.00" } });
  await using payments = made;
  await expect(payments.run(payOrder, [order])).rejects.toMatchObject({
    cause: { type: "OverLimit" },
  });
  expect((await payments.service()).payouts).toHaveLength(0);
  expect([...reserved.values()]).toEqual([]);
});

test("after a rejection nothing more is sent, not even an undo", async () => {
  const { payments: made, reserved } = await makeTest({ approveAbove: { USD: "10.00" } });
  await using payments = made;
  const run = await payments.start(payOrder, [order]);
  await run.reject("Bob", "Unknown supplier");
  await expect(run.result()).rejects.toMatchObject({ cause: { type: "Rejected" } });
  expect((await payments.service()).payouts).toHaveLength(0);
  expect([...reserved.values()]).toEqual(["17"]);
});
