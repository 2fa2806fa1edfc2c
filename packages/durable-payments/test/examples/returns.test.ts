import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { paySupplierAndWatch } from "./workflows.ts";

const DAY_MS = 86_400_000;

const workflowsPath = new URL("./workflows.ts", import.meta.url).href;
const payments = await usePaymentsTest({ workflowsPath });

test("a payout that comes back after ten days is noticed", async () => {
  await payments.temperament({ returns: { share: 1, afterMs: 10 * DAY_MS, status: "returned" } });
  const before = await payments.now();
  expect(await payments.run(paySupplierAndWatch, ["12.50"])).toBe("returned");
  expect(((await payments.now()) - before) / DAY_MS).toBeGreaterThan(10);
  expect((await payments.service()).payouts).toMatchObject([{ payout_status: "returned" }]);
});

test("a payout that stays away ends the wait after its time", async () => {
  await payments.temperament({});
  expect(await payments.run(paySupplierAndWatch, ["12.50"])).toBe("kept");
});

test("a single payout comes back", async () => {
  const run = await payments.start(paySupplierAndWatch, ["12.50"]);
  await run.untilStage("awaitReturn");
  const [payout] = (await payments.service()).payouts;
  await payments.simulator.setPayoutStatus(payout?.payout_id ?? "", "reversed");
  expect(await run.result()).toBe("reversed");
});

test("an ended run is shown and listed as ended", async () => {
  await payments.temperament({});
  const run = await payments.start(paySupplierAndWatch, ["12.50"]);
  await run.result();
  const opened = payments.open();
  const { runs } = await opened.list({});
  expect(runs.find(({ workflowId }) => workflowId === run.workflowId)).toMatchObject({
    status: "succeeded",
  });
  expect(await opened.show(run.workflowId)).toMatchObject({ status: "succeeded", notes: [] });
});
