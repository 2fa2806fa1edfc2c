import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const workflowsPath = new URL("./workflows.ts", import.meta.url).href;
const payments = await usePaymentsTest({ workflowsPath, simulator: { settleAfter: "3 days" } });

test("a run waits three days for its payout", async () => {
  const before = await payments.now();
  expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
  const days = ((await payments.now()) - before) / 86_400_000;
  expect(days).toBeGreaterThan(3);
});
