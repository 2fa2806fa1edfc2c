import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { exampleInvoice } from "../src/example-invoice.ts";
import { payInvoice } from "../src/workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: import.meta.resolve("../src/workflows.ts"),
  simulator: { settleAfter: "3 days" },
});

test("an invoice is paid, however long it takes", async () => {
  const { payout_status } = await payments.run(payInvoice, [exampleInvoice]);
  expect(payout_status).toBe("completed");
});

test("a lost response does not pay twice", async () => {
  await payments.fault("dropped", { operation: "createPayout" });
  await payments.run(payInvoice, [exampleInvoice]);
  expect((await payments.service()).payouts).toHaveLength(1);
  // Every run of this test replays against the current code.
  await payments.replay();
});
