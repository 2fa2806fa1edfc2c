import { createPaymentsTest } from "durable-payments/testing";
import assert from "node:assert/strict";
import { test } from "node:test";
import { paySupplier } from "./workflows.ts";

void test("a lost response does not create a second payout", async () => {
  await using payments = await createPaymentsTest({
    workflowsPath: new URL("./workflows.ts", import.meta.url).href,
  });
  await payments.fault("dropped", { operation: "createPayout" });
  assert.equal(await payments.run(paySupplier, ["12.50"]), "completed");
  assert.equal((await payments.service()).payouts.length, 1);
});
