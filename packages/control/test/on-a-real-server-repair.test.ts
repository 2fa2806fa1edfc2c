import { defaultAssumptions } from "@durable-payments/api-core";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { planMany, planRetryOf, retryPayment } from "../src/actions/retry/retry.ts";
import { startRun } from "../src/actions/start.ts";
import { planOnboarding } from "../src/rules/input.ts";
import { type Payments, paymentsOn, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import type { payByChild } from "./support/workflows.ts";

// A run is repaired by what is true now: at the service, in the ledger, and in Temporal.

let stack: RealStack;
let payments: Payments;
beforeAll(async () => {
  stack = await startRealStack();
  payments = await paymentsOn(stack);
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose](), 30_000);

const ada = { startedBy: "ada" };
const bob = { by: "bob", how: "--by", reason: "tried again" };
const result = (id: string, runId?: string) => payments.result(id, runId);

const onboarded = async (id: string, last_name: string): Promise<string> => {
  const email = `${id}@example.com`;
  const input = { cardholder: { ...inputs.cardholder, last_name, email }, card: inputs.card };
  await startRun(stack.operations, id, planOnboarding(input, defaultAssumptions), ada);
  await expect(result(id)).rejects.toThrow();
  const { cardholders } = await stack.home.state();
  return cardholders.find((one) => one.email === email)?.card_holder_id ?? "";
};

test("an incomplete identity check fails again until the service shows it as passed; a refused one stays refused", async () => {
  const person = await onboarded("incomplete", "Incomplete");
  const first = await retryPayment(stack.operations, "incomplete", bob);
  await expect(result("incomplete", first.runId)).rejects.toMatchObject({
    cause: { type: "NotVerified", message: expect.stringContaining("incomplete") },
  });
  await stack.home.setVerification(person, "SUCCESS");
  const { runId } = await retryPayment(stack.operations, "incomplete", bob);
  expect(await result("incomplete", runId)).toMatchObject({ card_holder_id: person });
  const refused = await onboarded("refused-person", "Refused");
  await stack.home.setVerification(refused, "SUCCESS");
  await expect(retryPayment(stack.operations, "refused-person", bob)).rejects.toThrow(
    "has refused the cardholder's identity",
  );
}, 60_000);

test("an open run that sleeps until a later attempt is woken by a retry", async () => {
  const { client } = stack.operations;
  await stack.home.addFault({ kind: "rate-limited", operation: "createPayout", seconds: 3_600 });
  await startRun(stack.operations, "asleep", payments.planned("asleep"), ada);
  const isAsleep = async () => {
    const { raw } = await client.workflow.getHandle("asleep").describe();
    const [next] = (raw.pendingActivities ?? []).flatMap(
      (one) => one.nextAttemptScheduleTime ?? [],
    );
    expect(Number(next?.seconds ?? 0)).toBeGreaterThan(Date.now() / 1_000 + 600);
  };
  await vi.waitFor(isAsleep, { timeout: 20_000, interval: 100 });
  expect((await retryPayment(stack.operations, "asleep", bob)).plan.way).toBe("look");
  await result("asleep");
  expect(await payments.paid("asleep")).toBe(1);
}, 60_000);

const failing = async (id: string): Promise<void> => {
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await startRun(stack.operations, id, payments.planned(id), ada);
  await expect(result(id)).rejects.toThrow();
};

test("a bulk retry finds what the ledger has as failed, also if Temporal has deleted it, and nothing that was paid", async () => {
  const { client, ledger, namespace } = stack.operations;
  const ended = { runId: null, endedAt: Date.now(), endType: "Refused", endReason: "no" } as const;
  for (const id of ["many-1", "many-deleted"]) await failing(id);
  await ledger.recordEnds([{ ...ended, workflowId: "many-deleted", endState: "failed" }]);
  const execution = { workflowId: "many-deleted" };
  await client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: execution });
  // It is paid, and its run was terminated: nothing is left to retry.
  await startRun(stack.operations, "many-paid", payments.planned("many-paid"), ada);
  const isMade = async () =>
    expect(await ledger.rowsOf("many-paid")).toMatchObject([{ state: "done" }]);
  await vi.waitFor(isMade, { timeout: 20_000, interval: 50 });
  await client.workflow.getHandle("many-paid").terminate("stuck");
  const [{ account = "", madeId } = {}] = await ledger.rowsOf("many-paid");
  const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(account, madeId ?? "", seen);
  await ledger.recordEnds([{ ...ended, workflowId: "many-paid", endState: "terminated" }]);
  const isListed = async () => {
    const planned = await planMany(stack.operations, { type: "payout" }, bob);
    const many = planned.filter(({ workflowId }) => workflowId.startsWith("many-"));
    expect(many.toSorted((one, other) => one.workflowId.localeCompare(other.workflowId))).toEqual([
      { workflowId: "many-1", runId: expect.any(String), way: "start", whyNot: undefined },
      {
        workflowId: "many-deleted",
        way: undefined,
        whyNot: expect.stringContaining("start it again with the same id and input"),
      },
    ]);
  };
  await vi.waitFor(isListed, { timeout: 20_000, interval: 200 });
}, 60_000);

test("after an amendment the ledger has the amended payment, and the log both", async () => {
  const { ledger } = stack.operations;
  await failing("amended");
  const patch = { payout: { amount: "7.50" } };
  const amend = { patch, assumptions: defaultAssumptions };
  const { runId } = await retryPayment(stack.operations, "amended", { ...bob, amend });
  expect(await ledger.runs({ workflowIds: ["amended"] })).toMatchObject([{ amount: "7.50" }]);
  const decisions = await ledger.decisionsOf("amended");
  expect(decisions.find(({ kind }) => kind === "amend")?.value["changed"]).toEqual([
    expect.stringMatching(/^payout\.amount: .* → 7\.50$/),
  ]);
  await result("amended", runId);
}, 60_000);

test("the input of a child is amended by its root", async () => {
  const { client, taskQueue } = stack.operations;
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const { input } = payments.planned("of-child");
  const parent = await client.workflow.start<typeof payByChild>("payByChild", {
    workflowId: "parent",
    taskQueue,
    args: ["parent/child", input],
  });
  await expect(parent.result()).rejects.toThrow();
  const amend = { patch: { payout: { amount: "7.50" } }, assumptions: defaultAssumptions };
  await expect(
    planRetryOf(stack.operations, "parent/child", { ...bob, amend }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("is a child of parent"),
    next: { operation: "retry", workflowId: "parent", isAmended: true },
  });
}, 60_000);
