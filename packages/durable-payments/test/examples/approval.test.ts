import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const workflowsPath = new URL("./workflows.ts", import.meta.url).href;
const payments = await usePaymentsTest({ workflowsPath, approveAbove: { USD: "1000.00" } });

test("a large payout is made once a second person has approved it", async () => {
  const run = await payments.start(paySupplier, ["5000.00"]);
  await run.approve("Bob");
  expect(await run.result()).toBe("completed");
});
