import { usePaymentsTest } from "@durable-payments/testing/vitest";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const payments = usePaymentsTest({
  workflowsPath: new URL("./workflows.ts", import.meta.url).href,
});

test("runs go on under the code as it is now", async () => {
  await payments.run(paySupplier, ["12.50"]);
  expect(await payments.replay()).toHaveLength(1);
});
