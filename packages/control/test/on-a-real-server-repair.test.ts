import { defaultAssumptions } from "@durable-payments/api-core";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { startRun } from "../src/actions/start.ts";
import { planOnboarding } from "../src/rules/input.ts";
import { type Payments, paymentsOn, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";

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
