import { NotReplayable } from "../src/index.ts";
import { usePaymentsTest } from "../src/vitest.ts";
import { expect, it } from "vitest";
import { payBeneficiary, paySupplier } from "./support/workflows.ts";

const workflowsPath = import.meta.resolve("./support/workflows.ts");
const payments = usePaymentsTest({ workflowsPath });

it("shows where the code of the next release does something else", async () => {
  await payments.run(paySupplier, ["12.50"], { workflowId: "paid" });
  const replayed = payments.replay(import.meta.resolve("./support/changed-workflows.ts"));
  await expect(replayed).rejects.toBeInstanceOf(NotReplayable);
  await expect(replayed).rejects.toThrow(
    /paid \(paySupplier\):\n {2}history: event \d+, MARKER_RECORDED readAccount\n {2}code: {4}nothing of that kind\n {2}where the code waits since:\n.*changed-workflows\.ts:5:/,
  );
});

it("shows a step of the next release that was renamed, whose payment has another key", async () => {
  await payments.run(paySupplier, ["12.50"]);
  const beneficiary_id = (await payments.ledger()).beneficiaries[0]?.beneficiary_id ?? "";
  await payments.run(payBeneficiary, [beneficiary_id], { workflowId: "renamed" });
  const replayed = payments.replay(import.meta.resolve("./support/renamed-step.ts"));
  await expect(replayed).rejects.toThrow(
    /renamed \(payBeneficiary\):\n {2}history: event \d+, ACTIVITY_TASK_SCHEDULED createPayout, step payTheInvoice, key \S+\n {2}code: {4}ACTIVITY_TASK_SCHEDULED createPayout, step payTheSupplier, key [^]*renamed-step\.ts:7:[^]*sent as the step payTheInvoice/,
  );
});
