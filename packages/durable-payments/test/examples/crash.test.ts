import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: new URL("./workflows.ts", import.meta.url).href,
});

test("a worker that crashes between request and response does not pay twice", async () => {
  await payments.crashAfter("createPayout");
  expect(await payments.run(paySupplier, ["12.50"])).toBe("completed");
  expect((await payments.service()).payouts).toHaveLength(1);
});
