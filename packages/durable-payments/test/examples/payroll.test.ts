import { usePaymentsTest } from "durable-payments/testing";
import { expect, test } from "vitest";
import { type Employee, payPayroll } from "./payroll.ts";
import { paySupplier } from "./workflows.ts";

const payments = await usePaymentsTest({
  workflowsPath: new URL("./payroll.ts", import.meta.url).href,
  // Only a whole server has Schedules. Its time is real, so the service's list is current at once.
  server: "dev",
  assumptions: { listLagSeconds: 0, clockSkewSeconds: 0 },
});

test("a payroll that fires twice in a month pays each salary once", async () => {
  // Creates the beneficiary.
  await payments.run(paySupplier, ["1.00"]);
  const [payee] = (await payments.service()).beneficiaries;
  const hired = { beneficiary_id: payee?.beneficiary_id ?? "", salary: "2500.00" };
  const employees: ReadonlyArray<Employee> = ["e17", "e18"].map((id) => ({ ...hired, id }));
  const payroll = await payments.client.schedule.create({
    scheduleId: "payroll",
    spec: { calendars: [{ dayOfMonth: 25 }] },
    state: { paused: true },
    action: {
      type: "startWorkflow",
      workflowType: payPayroll,
      args: [employees],
      taskQueue: payments.taskQueue,
    },
  });
  const november = { start: new Date("2026-11-24"), end: new Date("2026-11-26") };
  const results: Array<unknown> = [];
  for (const count of [1, 2]) {
    await payroll.backfill({ ...november, overlap: "ALLOW_ALL" });
    await expect
      .poll(async () => (await payroll.describe()).info.recentActions)
      .toHaveLength(count);
    const { recentActions } = (await payroll.describe()).info;
    const workflowId = recentActions.at(-1)?.action.workflow.workflowId ?? "";
    results.push(await payments.runOf(workflowId).result());
  }
  expect(results[1]).toEqual(results[0]);
  expect((await payments.service()).payouts).toHaveLength(3);
});
