import { expect, it } from "vitest";
import { VOUCHER, type VouchedRun, voucherOf } from "../src/calls.ts";

const AT = 1_700_000_000_000;
const given = { workflowId: "order-17", at: AT, is: "first" as const };
const run: VouchedRun = {
  workflowId: "order-17",
  runId: "a",
  firstExecutionRunId: "a",
  startTime: AT + 200,
  memo: { [VOUCHER]: given },
};

it("vouches for the run that was started with it", () => {
  expect(voucherOf(run)).toEqual(given);
});

it.each<[string, Partial<VouchedRun>]>([
  ["of another workflow id", { workflowId: "order-18" }],
  ["after a reset, a retry policy or continue-as-new", { runId: "b" }],
  ["of a schedule", { cronSchedule: "@daily" }],
  ["that starts too late", { startTime: AT + 10_001 }],
  ["that started before it", { startTime: AT - 10_001 }],
  ["without a memo", { memo: undefined }],
  ["with a memo of another kind", { memo: { [VOUCHER]: "first" } }],
  ["with a voucher of another kind", { memo: { [VOUCHER]: { ...given, is: "second" } } }],
])("does not vouch for a run %s", (_, changed) => {
  expect(voucherOf({ ...run, ...changed })).toBeUndefined();
});
