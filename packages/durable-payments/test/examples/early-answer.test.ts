import { startPayment } from "durable-payments/start";
import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import type { paySupplier } from "./workflows.ts";

const workflowsPath = new URL("./workflows.ts", import.meta.url).href;
// The time-skipping server has no update-with-start.
const payments = await usePaymentsTest({ workflowsPath, server: "dev" });

test("one call starts a payment, and gives its first answer", async () => {
  const { client, ledger, taskQueue } = payments;
  const started = await startPayment<typeof paySupplier>(client, "paySupplier", {
    key: "invoice-17",
    startedBy: "ada",
    args: ["12.50"],
    memo: { department: "sales" },
    workflowExecutionTimeout: "60 days",
    ledger,
    taskQueue,
    waitFor: "created",
    within: "10 seconds",
  });
  // Not "refused" or "needs approval". After "started" its outcome is not known: look at started.run, and never pay it again.
  if (started.is !== "created") throw new Error(`${started.is}: ${started.reason}`);
  expect(started.id).toBe((await payments.service()).payouts[0]?.payout_id);
  expect(await started.run.result()).toBe("completed");
});
