import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { payBoth } from "./children.ts";

const workflowsPath = new URL("./children.ts", import.meta.url).href;
const payments = await usePaymentsTest({
  workflowsPath,
  approveAbove: { USD: "1000.00" },
  server: "dev",
});

test("a child pays once a second person has approved it", async () => {
  const parent = await payments.start(payBoth, ["12.50", "5000.00"]);
  await payments.runOf(`${parent.workflowId}/second`).approve("Bob");
  expect(await parent.result()).toEqual(["completed", "completed"]);
});
