import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import proto from "@temporalio/proto";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { firstAnswer } from "../../src/actions/first-answer.ts";
import { startPayment } from "../../src/actions/start.ts";
import { ConnectionFailed, InvalidInput, NotAllowed, NotFound } from "../../src/errors.ts";
import { openPaymentsOn } from "../../src/payments/internal.ts";
import {
  beneficiary,
  type Payments,
  paymentsOn,
  payout,
  type RealStack,
} from "../support/payments.ts";
import { startRealStack } from "../support/real-stack.ts";
import type {
  failInCode,
  payByChildAndOwn,
  payReserved,
  waitThenPay,
} from "../support/workflows.ts";
import { approveRead } from "../support/approving.ts";

/*
 * A start that waits for its first answer, on real servers: every answer, and everything that can happen meanwhile. In
 * each case the payment is made at most once, and who started it is recorded once.
 */

let stack: RealStack;
let payments: Payments;
beforeAll(async () => {
  stack = await startRealStack();
  payments = await paymentsOn(stack);
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose](), 30_000);

const waiting = { waitFor: "created", startedBy: "ada" } as const;
const inputOf = (reference: string, options: PayoutInput["options"] = {}): PayoutInput => ({
  beneficiary_id: payments.known,
  payout: payout(reference),
  options,
});

/** Starts `payout` with a reference that is its key, too. */
const pay = (key: string, within?: "2 seconds", input = inputOf(key)) => {
  const { client, ledger } = stack.operations;
  return startPayment<Workflows["payout"]>(client, "payout", {
    ...waiting,
    key,
    args: [input],
    ledger,
    notDuplicate: "test",
    ...(within && { within }),
  });
};

const expectOneStart = async (workflowId: string): Promise<void> => {
  const decisions = await stack.operations.ledger.decisionsOf(workflowId);
  expect(decisions.filter(({ kind }) => kind === "start").map(({ by }) => by)).toEqual(["ada"]);
};

const isUnavailable = Object.assign(new Error("14 UNAVAILABLE: the connection is lost"), {
  code: 14,
  details: "the connection is lost",
  metadata: { get: () => [] },
});

/** Lets the next request that starts a run and asks it be lost: after Temporal has carried it out, or before. */
const loseNext = (when: "before" | "after"): void => {
  const { workflowService } = stack.operations.client.workflow;
  const spy = vi.spyOn(workflowService, "executeMultiOperation");
  spy.mockImplementationOnce(async (request: object) => {
    spy.mockRestore();
    if (when === "after") await workflowService.executeMultiOperation(request);
    throw isUnavailable;
  });
  onTestFinished(() => spy.mockRestore());
};

test("created: with the id of the service; the same key again is refused, and paid once", async () => {
  const started = await pay("created");
  const { payouts } = await stack.home.state();
  const made = payouts.find(({ payout_reference }) => payout_reference === "created");
  expect(started).toMatchObject({
    is: "created",
    operation: "createPayout",
    id: made?.payout_id,
    run: { workflowId: "payout/created" },
  });
  await expect(pay("created")).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
  await started.run.result();
  await expect(pay("created")).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
  expect(await payments.paid("created")).toBe(1);
  await expectOneStart("payout/created");
});

const open = () => {
  const { home, operations } = stack;
  const { apiKey, clientId, url } = home;
  const temporal = { address: operations.settings.address };
  return openPaymentsOn(operations.ledger, { baseUrl: url, clientId, apiKey, temporal });
};

test("a key in the input is the key of the run: its payment is created once", async () => {
  await using opened = open();
  const input = { ...inputOf("own-key"), key: "own-key" };
  const { workflowId } = await opened.pay(input, { by: "ada", notDuplicate: "test" });
  expect(workflowId).toBe("payout/own-key");
  await payments.result(workflowId);
  const created: Array<string | null> = [];
  for await (const event of opened.events())
    if (event.type === "payment.created" && event.reference === "own-key")
      created.push(event.workflowId);
  expect(created).toEqual([workflowId]);
  // A payee that the run creates is the one that was started, too.
  const made = { beneficiary, payout: payout("own-payee"), key: "own-payee" };
  await opened.pay(made, { by: "ada", notDuplicate: "test" });
  await payments.result("payout/own-payee");
}, 60_000);

test("a known key with another input is refused, however it is started", async () => {
  await using opened = open();
  const start = (amount: string, more: object = {}) =>
    opened.start<Workflows["payout"]>("payout", {
      key: "one-key",
      by: "ada",
      args: [{ ...inputOf("one-key"), payout: { ...payout("one-key"), amount } }],
      notDuplicate: "test",
      ...more,
    });
  const amounts = ["75.00", "76.00", "77.00"];
  const started = await Promise.allSettled(amounts.map((amount) => start(amount)));
  const isRefused = ({ status }: { readonly status: string }) => status === "rejected";
  expect(started.filter(isRefused)).toMatchObject([
    { reason: { name: "NotAllowed", message: expect.stringContaining("with another input") } },
    { reason: { name: "NotAllowed" } },
  ]);
  const [paid] = amounts.filter((_, at) => !isRefused(started[at] ?? { status: "rejected" }));
  const known = await start(paid ?? "");
  const { runId } = await stack.operations.client.workflow.getHandle("payout/one-key").describe();
  expect(known).toEqual({ workflowId: "payout/one-key", runId, isNew: false });
  const other = { ...inputOf("one-key"), payout: { ...payout("one-key"), amount: "78.00" } };
  await expect(pay("one-key", undefined, other)).rejects.toThrow(NotAllowed);
  // The answer would be lost: `firstAnswer` gives it.
  await expect(start(paid ?? "", { waitFor: "created" })).rejects.toThrow("waitFor is unknown");
  await vi.waitFor(async () => expect(await payments.paid("one-key")).toBe(1), {
    timeout: 20_000,
    interval: 50,
  });
});

test("a known key finds its run, whatever equal payment was started since", async () => {
  const { client, ledger } = stack.operations;
  const start = (key: string, notDuplicate?: string) =>
    startPayment<Workflows["payout"]>(client, "payout", {
      key,
      startedBy: "ada",
      args: [inputOf("equal")],
      ledger,
      ...(notDuplicate && { notDuplicate }),
    });
  await start("equal-1");
  await start("equal-2", "a second invoice");
  await expect(start("equal-1")).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
  await expect(start("equal-3")).rejects.toThrow(NotAllowed);
});

test("what is paid is the request at the call, although the program uses its object again", async () => {
  const { client, ledger } = stack.operations;
  const order = { ...payout("reused"), amount: "0.00", beneficiary_id: payments.known };
  const started = ["1.00", "2.00"].map((amount) => {
    order.amount = amount;
    const args: [typeof order] = [order];
    const options = { ...waiting, ledger, notDuplicate: "test", key: `reused-${amount}`, args };
    return startPayment<typeof payReserved>(client, "payReserved", options);
  });
  await Promise.all(started);
  const { payouts } = await stack.home.state();
  const paid = payouts.filter(({ payout_reference }) => payout_reference === "reused");
  expect(paid.map(({ amount }) => amount).toSorted()).toEqual(["1.00", "2.00"]);
});

test("created: the cardholder of an onboarding", async () => {
  const { client, ledger } = stack.operations;
  const started = await startPayment<Workflows["onboardCardholder"]>(client, "onboardCardholder", {
    ...waiting,
    key: "ada",
    args: [{ cardholder: inputs.cardholder, card: inputs.card }],
    ledger,
  });
  const { cardholders } = await stack.home.state();
  expect(started).toMatchObject({
    is: "created",
    operation: "createCardholder",
    id: cardholders[0]?.card_holder_id,
  });
});

test("needs approval: it is paid once, after a second person has approved it", async () => {
  const { ledger } = stack.operations;
  const started = await pay(
    "approval",
    undefined,
    inputOf("approval", { approval: { above: "1.00" } }),
  );
  expect(started).toMatchObject({ is: "needs approval", reason: expect.stringContaining("1.00") });
  expect(await payments.paid("approval")).toBe(0);
  await approveRead({ ledger }, "payout/approval", { by: "bob", how: "test" });
  await started.run.result();
  expect(await payments.paid("approval")).toBe(1);
  await expectOneStart("payout/approval");
});

test("needs approval, of a start without the ledger: the answer says that nobody can, and what helps", async () => {
  const { client, ledger } = stack.operations;
  const input = inputOf("no-ledger", { approval: { above: "1.00" } });
  const started = await startPayment<Workflows["payout"]>(client, "payout", {
    ...waiting,
    key: "no-ledger",
    args: [input],
  });
  expect(started).toMatchObject({
    is: "needs approval",
    reason: expect.stringMatching(/1\.00.* Nobody can approve it yet: .* with the ledger\.$/),
  });
  await expect(pay("no-ledger", undefined, input)).rejects.toThrow("already started");
  await approveRead({ ledger }, "payout/no-ledger", { by: "bob", how: "test" });
  await started.run.result();
  expect(await payments.paid("no-ledger")).toBe(1);
});

test("refused: by the service, and by the check of the input before anything is sent", async () => {
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  expect(await pay("refused")).toMatchObject({ is: "refused", reason: expect.any(String) });
  expect(
    await pay("invalid", undefined, Object.assign(inputOf("invalid"), { surplus: 1 })),
  ).toMatchObject({
    is: "refused",
    reason: expect.stringContaining("surplus"),
  });
  const request = { ...payout("wrong"), amount: "-1.00" };
  expect(await pay("wrong", undefined, { ...inputOf("wrong"), payout: request })).toMatchObject({
    is: "refused",
    reason: expect.stringContaining("amount"),
  });
  for (const key of ["refused", "invalid", "wrong"]) {
    expect(await payments.paid(key)).toBe(0);
    await expectOneStart(`payout/${key}`);
  }
});

test("a workflow of a user's own answers as well, whatever it does before it pays", async () => {
  const { client, ledger } = stack.operations;
  const own = (reference: string) => ({ ...payout(reference), beneficiary_id: payments.known });
  const options = { ...waiting, ledger, notDuplicate: "test" };
  const created = await startPayment<typeof payReserved>(client, "payReserved", {
    ...options,
    key: "own",
    args: [own("own")],
  });
  expect(created).toMatchObject({ is: "created", operation: "createPayout" });
  // Its own words hide the failure: "refused" would be a promise that nothing was paid.
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const failed = await startPayment<typeof payReserved>(client, "payReserved", {
    ...options,
    key: "own-refused",
    args: [own("own-refused")],
  });
  expect(failed).toMatchObject({ is: "started", reason: "The goods stay reserved." });
  const sleeping = await startPayment<typeof waitThenPay>(client, "waitThenPay", {
    ...options,
    key: "sleeps",
    within: "2 seconds",
    args: [own("sleeps")],
  });
  expect(sleeping).toMatchObject({
    is: "started",
    reason: expect.stringContaining("not known yet"),
  });
  await sleeping.run.cancel();
  const byChild = await startPayment<typeof payByChildAndOwn>(client, "payByChildAndOwn", {
    ...options,
    key: "parent",
    args: ["payout/child", inputOf("child"), { ...own("parent"), amount: "-1.00" }],
  });
  // Its own payment is refused, but its child has paid.
  expect(byChild).toMatchObject({ is: "started", reason: expect.stringContaining("amount") });
  expect(await payments.paid("child")).toBe(1);
});

test("a known run can be asked again: while it runs, once it has ended, and if nobody knows it", async () => {
  const { operations } = stack;
  const ask = (id: string) => firstAnswer(operations, id, "2 seconds");
  const input = inputOf("again", { approval: { above: "1.00" } });
  await pay("again", undefined, input);
  expect(await ask("payout/again")).toMatchObject({ is: "needs approval" });
  await approveRead(operations, "payout/again", { by: "bob", how: "test" });
  await operations.client.workflow.getHandle("payout/again").result();
  const { payouts } = await stack.home.state();
  const made = payouts.find(({ payout_reference }) => payout_reference === "again");
  expect(await ask("payout/again")).toEqual({
    is: "created",
    operation: "createPayout",
    id: made?.payout_id,
  });
  expect(await ask("payout/refused")).toMatchObject({ is: "started" });
  await expect(ask("payout/unknown-id")).rejects.toThrow(NotFound);
});

test("started: the code of the run fails, and Temporal no longer asks it; whoever asks hears why", async () => {
  const { operations } = stack;
  const { client, ledger } = operations;
  const { run, ...started } = await startPayment<typeof failInCode>(client, "failInCode", {
    ...waiting,
    key: "broken",
    args: [],
    ledger,
  });
  const why = expect.stringMatching(/not known yet.*failed state/);
  expect(started).toMatchObject({ is: "started", reason: why });
  await expectOneStart("failInCode/broken");
  const again = await firstAnswer(operations, "failInCode/broken", "5 seconds");
  expect(again).toMatchObject({ is: "started", reason: why });
  await run.terminate();
}, 60_000);

test("started: no worker runs; it is paid once when one does", async () => {
  await stack.stopWorkers();
  const started = await pay("no-worker", "2 seconds");
  expect(started).toMatchObject({
    is: "started",
    reason: expect.stringContaining("not known yet"),
  });
  await expectOneStart("payout/no-worker");
  await expect(pay("no-worker", "2 seconds")).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
  await stack.startWorkers();
  await started.run.result();
  expect(await payments.paid("no-worker")).toBe(1);
}, 30_000);

test("created: though the workers are restarted while it waits", async () => {
  const { client, ledger } = stack.operations;
  await ledger.pause("run", "payout/restart", { by: "ada", how: "test", reason: "test" });
  const starting = pay("restart");
  // It has asked, and waits to be resumed.
  await vi.waitFor(
    async () => {
      const { events } = await client.workflow.getHandle("payout/restart").fetchHistory();
      expect(events?.some((event) => event.timerStartedEventAttributes)).toBe(true);
    },
    { timeout: 10_000, interval: 50 },
  );
  await stack.stopWorkers();
  await stack.startWorkers();
  await ledger.resume("run", "payout/restart", { by: "ada", how: "test", reason: null });
  const handle = client.workflow.getHandle("payout/restart");
  const { nudgeSignal } = await import("@durable-payments/protocol/calls");
  await handle.signal(nudgeSignal, {});
  expect(await starting).toMatchObject({ is: "created" });
  expect(await payments.paid("restart")).toBe(1);
}, 30_000);

test("started: the response is lost after Temporal has started the run", async () => {
  loseNext("after");
  const started = await pay("lost-after");
  expect(started).toMatchObject({ is: "started" });
  await started.run.result();
  expect(await payments.paid("lost-after")).toBe(1);
  await expectOneStart("payout/lost-after");
});

test("not known: the request is lost, and no run exists; the same key can be started again", async () => {
  loseNext("before");
  const failed = pay("lost-before");
  await expect(failed).rejects.toThrow(ConnectionFailed);
  await expect(failed).rejects.toMatchObject({ carriedOut: "unknown" });
  expect(await pay("lost-before")).toMatchObject({ is: "created" });
  expect(await payments.paid("lost-before")).toBe(1);
});

test("a lost response does not make a run with another input this start's", async () => {
  await pay("other");
  loseNext("before");
  await expect(pay("other", undefined, inputOf("another input"))).rejects.toThrow(NotAllowed);
  await expectOneStart("payout/other");
});

test("options of Temporal's own are passed on, and the memo's own fields are kept", async () => {
  const { client, connection, ledger } = stack.operations;
  const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;
  const department = defineSearchAttributeKey("Department", "KEYWORD");
  await connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: { Department: INDEXED_VALUE_TYPE_KEYWORD },
  });
  const run = await startPayment<Workflows["payout"]>(client, "payout", {
    key: "options",
    startedBy: "ada",
    args: [inputOf("options")],
    ledger,
    notDuplicate: "test",
    memo: { order: "17" },
    priority: { priorityKey: 2 },
    typedSearchAttributes: [{ key: department, value: "sales" }],
    workflowExecutionTimeout: "40 days",
    workflowRunTimeout: "30 days",
    workflowTaskTimeout: "20 seconds",
    retry: { maximumAttempts: 2 },
    startDelay: "1 second",
  });
  const { memo, raw, typedSearchAttributes } = await run.describe();
  expect(typedSearchAttributes.get(department)).toBe("sales");
  expect(memo).toMatchObject({
    order: "17",
    "durable-payments/voucher": { workflowId: "payout/options", is: "first" },
  });
  expect(raw.workflowExecutionInfo?.priority?.priorityKey).toBe(2);
  const { executionConfig } = raw;
  expect(Number(executionConfig?.workflowExecutionTimeout?.seconds)).toBe(40 * 86_400);
  expect(Number(executionConfig?.workflowRunTimeout?.seconds)).toBe(30 * 86_400);
  expect(Number(executionConfig?.defaultWorkflowTaskTimeout?.seconds)).toBe(20);
  const { events } = await run.fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  expect(started?.retryPolicy?.maximumAttempts).toBe(2);
  expect(Number(started?.firstWorkflowTaskBackoff?.seconds)).toBe(1);
});

test("an option that the payment does not take is refused before anything is started", async () => {
  const { client } = stack.operations;
  const given = {
    key: "cron",
    startedBy: "ada",
    args: [inputOf("cron")],
    cronSchedule: "* * * * *",
  };
  const starting = startPayment<Workflows["payout"]>(client, "payout", given as never);
  await expect(starting).rejects.toThrow(InvalidInput);
  await expect(starting).rejects.toThrow("with the option cronSchedule. Nothing was started.");
  await expect(client.workflow.getHandle("payout/cron").describe()).rejects.toThrow();
});

test("a memo with a reserved field is refused before anything is started", async () => {
  const { client } = stack.operations;
  const starting = startPayment<Workflows["payout"]>(client, "payout", {
    key: "reserved",
    startedBy: "ada",
    args: [inputOf("reserved")],
    memo: { "durable-payments/voucher": { is: "first" } },
  });
  await expect(starting).rejects.toThrow(InvalidInput);
  await expect(starting).rejects.toThrow("durable-payments/ are reserved");
  await expect(client.workflow.getHandle("payout/reserved").describe()).rejects.toThrow();
});
