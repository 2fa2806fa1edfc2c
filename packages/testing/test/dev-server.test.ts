import { usePaymentsTest } from "../src/vitest.ts";
import { expect, it } from "vitest";
import { paySupplier } from "./support/workflows.ts";

const payments = usePaymentsTest({
  server: "dev",
  workflowsPath: import.meta.resolve("./support/workflows.ts"),
  approveAbove: { USD: "1000.00" },
  simulator: { settleAfter: 0 },
});

it("a real server runs the same test", async () => {
  await payments.crashAfter("createPayout");
  const run = await payments.start(paySupplier, ["5000.00"]);
  await run.approve("Bob");
  expect(await run.result()).toBe("completed");
  expect((await payments.ledger()).payouts).toHaveLength(1);
  expect(await payments.replay()).toEqual([run.workflowId]);
});
