import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplier } from "./workflows.ts";

const workflowsPath = new URL("./workflows.ts", import.meta.url).href;
const payments = await usePaymentsTest({ workflowsPath, approveAbove: { USD: "1000.00" } });

test("a payment that is cancelled before its approval pays nothing", async () => {
  const opened = payments.open();
  const started = await opened.start(paySupplier, { key: "17", by: "Ada", args: ["5000.00"] });
  const run = payments.runOf(started.workflowId);
  await run.untilStage("createPayout");
  await opened.cancel(run.workflowId, { by: "Bob", reason: "order withdrawn" });
  await expect(run.result()).rejects.toMatchObject({ cause: { type: "Ended" } });
  expect((await payments.service()).payouts).toEqual([]);
});

test("nothing is sent while payments are paused", async () => {
  const opened = payments.open();
  await opened.pause({ by: "Bob", reason: "wrong balance" });
  const run = await payments.start(paySupplier, ["12.50"]);
  await run.untilStage("createBeneficiary");
  await payments.sleep("1 hour");
  expect((await payments.service()).beneficiaries).toEqual([]);
  await opened.resume({ by: "Bob" });
  expect(await run.result()).toBe("completed");
});
