import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: new URL("./workflows.ts", import.meta.url).href,
});

test("a lost response does not create a second payout", async () => {
  await payments.fault("dropped", { operation: "createPayout" });
  expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
  expect((await payments.service()).payouts).toHaveLength(1);
});
