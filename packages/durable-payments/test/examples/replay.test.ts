import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: new URL("./workflows.ts", import.meta.url).href,
});

test("runs continue under the current code", async () => {
  await payments.run(paySupplier, ["12.50"]);
  expect(await payments.replay()).toHaveLength(1);
});
