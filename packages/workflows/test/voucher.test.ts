import { expect, it } from "vitest";
import { VOUCHER } from "@durable-payments/protocol/calls";
import type { WorkflowInfo } from "@temporalio/workflow";
import { voucherOf } from "../src/run.ts";

const AT = 1_700_000_000_000;
const given = { workflowId: "order-17", at: AT, is: "first" as const };
// Only these facts count.
const run = {
  workflowId: "order-17",
  runId: "a",
  firstExecutionRunId: "a",
  startTime: new Date(AT + 200),
  memo: { [VOUCHER]: given },
} as unknown as WorkflowInfo;

it("vouches for the run that was started with it", () => {
  expect(voucherOf(run)).toEqual(given);
});

it.each<[string, Partial<WorkflowInfo>]>([
  ["of another workflow id", { workflowId: "order-18" }],
  ["after a reset, a retry policy or continue-as-new", { runId: "b" }],
  ["of a schedule", { cronSchedule: "@daily" }],
  ["that starts too late", { startTime: new Date(AT + 10_001) }],
  ["that started before it", { startTime: new Date(AT - 10_001) }],
  ["without a memo", { memo: {} }],
  ["with a memo of another kind", { memo: { [VOUCHER]: "first" } }],
  ["with a voucher of another kind", { memo: { [VOUCHER]: { ...given, is: "second" } } }],
])("does not vouch for a run %s", (_, changed) => {
  expect(voucherOf({ ...run, ...changed })).toBeUndefined();
});
