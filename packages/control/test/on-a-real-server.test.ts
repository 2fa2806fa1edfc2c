import { lateAfterMsOf } from "@durable-payments/protocol/settings";
import type { PayoutInput, Workflows } from "@durable-payments/protocol";
import { defaultAssumptions } from "@durable-payments/client/effect";
import { trackerId } from "@durable-payments/protocol";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { WorkflowExecutionAlreadyStartedError as Known } from "@temporalio/client";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { checkBatchFile, payFile, planFile } from "../src/actions/batch/index.ts";
import { answer } from "../src/actions/decide/index.ts";
import { cancel } from "../src/actions/stopping.ts";
import { replayRuns, selectRuns, type SkippedRuns } from "../src/actions/replay.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { listRuns, readOverview, readRun } from "../src/views/index.ts";
import { startPayment, startPaymentAt, startRun } from "../src/actions/start.ts";
import { checkCode } from "../src/views/doctor/ledger-checks.ts";
import { NotAllowed } from "../src/errors.ts";
import { type Payments, paymentsOn, payout, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import { plannedRepair } from "./support/repairing.ts";
import type { issueFrozenCard, payReserved, waitThenPay } from "./support/workflows.ts";
import { approveRead } from "./support/approving.ts";

let stack: RealStack;
let known: string;
let planned: Payments["planned"];
let result: Payments["result"];
let paid: Payments["paid"];
beforeAll(async () => {
  stack = await startRealStack();
  ({ known, paid, planned, result } = await paymentsOn(stack));
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose](), 30_000);

const acting = { by: "bob", how: "--by", reason: "tried again" };
const ada = { startedBy: "ada" };

test("the same id and input is the same run; another input, or a likely duplicate, is refused", async () => {
  const { operations } = stack;
  expect(await startRun(operations, "twice", planned("twice"), ada)).toMatchObject({ isNew: true });
  const again = await startRun(operations, "twice", planned("twice"), ada);
  expect(again).toEqual({ workflowId: "twice", runId: expect.any(String), isNew: false });
  // Options are no part of the payment, but whoever gives others has to know that they do not count.
  const { input, ...of } = planned("twice");
  const asks = { ...of, input: { ...input, options: { approval: { above: "1.00" } } } };
  expect(await startRun(operations, "twice", asks, ada)).toEqual({
    ...again,
    hasOtherOptions: true,
  });
  await expect(startRun(operations, "twice", planned("other"), ada)).rejects.toThrow(
    "another input",
  );
  await expect(startRun(operations, "copy", planned("twice"), ada)).rejects.toThrow(
    "likely a duplicate: the same payee, amount and currency as twice",
  );
  await result("twice");
  expect(await paid("twice")).toBe(1);
});

test("a run whose start the ledger has forgotten is started again: it is the same run, and the start is recorded once", async () => {
  const { operations } = stack;
  const { client, ledger, taskQueue } = operations;
  const { input } = planned("forgotten");
  const run = { workflowId: "forgotten", taskQueue, args: [input] } as const;
  await client.workflow.start<Workflows["payout"]>("payout", run);
  for (const startedBy of ["ada", "bob"]) {
    const again = await startRun(operations, "forgotten", planned("forgotten"), { startedBy });
    expect(again).toMatchObject({ isNew: false });
  }
  const starts = (await ledger.decisionsOf("forgotten")).filter(({ kind }) => kind === "start");
  expect(starts.map(({ by }) => by)).toEqual(["ada"]);
  await result("forgotten");
  expect(await paid("forgotten")).toBe(1);
});

test("the doctor names runs whose code fails, whether the ledger knows them or not, and no other", async () => {
  const { client, ledger, settings } = stack.operations;
  const { taskQueue } = settings;
  const look = () => checkCode(ledger, { client, settings });
  const later = { workflowId: "waits", taskQueue, startDelay: "1 hour" } as const;
  const waiting = await client.workflow.start<() => Promise<void>>("waitThenPay", later);
  const broken = await client.workflow.start<() => Promise<void>>("payWages", {
    workflowId: "wages-11",
    taskQueue,
  });
  const recorded = await startPaymentAt<() => Promise<void>>(Date.now(), client, "payWages", {
    workflowId: "wages-12",
    startedBy: "ada",
    args: [],
    ledger,
    taskQueue,
  });
  const isNamed = async () =>
    expect(await look()).toMatchObject({
      status: "failed",
      detail: expect.stringMatching(
        /^2 open runs fail in their workflow code: wages-11, wages-12;/,
      ),
      next: { action: "show", workflowId: "wages-11" },
    });
  await vi.waitFor(isNamed, { timeout: 60_000, interval: 500 });
  await Promise.all([broken, recorded, waiting].map((run) => run.terminate()));
  const isWell = async () => expect(await look()).toMatchObject({ status: "ok" });
  await vi.waitFor(isWell, { timeout: 10_000, interval: 200 });
}, 80_000);

test("a restart after an undone card issues another card once a person has answered, and does to that one what was done to the first", async () => {
  const { home, operations } = stack;
  const { client, ledger } = operations;
  await home.addFault({ kind: "refusal-in-200", operation: "freezeCard" });
  const { workflowId } = await startPayment<typeof issueFrozenCard>(client, "issueFrozenCard", {
    key: "e17",
    ...ada,
    ledger,
    args: [inputs.cardholder, inputs.card],
  });
  await expect(result(workflowId)).rejects.toMatchObject({ cause: { type: "Refused" } });
  const again = { ...acting, isRestarted: true };
  const { runId } = await retryPayment(operations, workflowId, again);
  // Nothing vouches for a card that was undone.
  const asked = async () => {
    const rows = await ledger.rowsOf(workflowId);
    return rows.find(({ state }) => state === "asking")?.question?.id;
  };
  const question = await vi.waitUntil(asked, { timeout: 20_000, interval: 100 });
  await answer(operations, workflowId, { ...acting, choose: "resend", question });
  const issued = await result(workflowId, runId);
  const { cards } = await home.state();
  expect(cards).toMatchObject([
    { card_name: "Travel", card_status: "cancelled" },
    { card_id: issued, card_name: "Travel", card_status: "frozen" },
  ]);
}, 60_000);

test("a refused payout is retried by starting its id again, and paid once", async () => {
  const { eu, operations } = stack;
  await eu.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await startRun(operations, "refused", planned("refused", "eu"), ada);
  await expect(result("refused")).rejects.toThrow();
  const isRecorded = async () =>
    expect((await plannedRepair(operations, acting, { type: "payout" })).retries).toMatchObject([
      { workflowId: "refused" },
    ]);
  await vi.waitFor(isRecorded, { timeout: 20_000, interval: 200 });
  const { plan } = await retryPayment(operations, "refused", acting);
  expect(plan.way).toBe("start");
  expect(plan.versions).toEqual({ createPayout: expect.any(Number) });
  await result("refused");
  expect(await paid("refused")).toBe(1);
  await expect(retryPayment(operations, "refused", acting)).rejects.toThrow("has completed");
}, 30_000);

test("a start that the ledger lacks is recorded by the same start again, and by no other input", async () => {
  const { client, ledger } = stack.operations;
  const workflowId = "payout/unrecorded";
  const inputOf = (reference: string): PayoutInput => ({
    beneficiary_id: known,
    payout: payout(reference),
  });
  const input = inputOf("unrecorded");
  await client.workflow.start<Workflows["payout"]>("payout", {
    workflowId,
    taskQueue: "nobody",
    args: [input],
  });
  const startAgain = async (given: PayoutInput, refusal: typeof NotAllowed | typeof Known) => {
    const started = startPayment<Workflows["payout"]>(client, "payout", {
      key: "unrecorded",
      args: [given],
      startedBy: "ada",
      ledger,
    });
    await expect(started).rejects.toThrow(refusal);
    return (await ledger.decisionsOf(workflowId)).map(({ by, kind }) => [kind, by]);
  };
  expect(await startAgain(inputOf("other"), NotAllowed)).toEqual([]);
  expect(await startAgain(input, Known)).toEqual([["start", "ada"]]);
  expect(await startAgain(input, Known)).toEqual([["start", "ada"]]);
  await client.workflow.getHandle(workflowId).terminate();
});

test("a user's own workflow is reset to its refused step: paid once, and its own activities run once", async () => {
  const { home, operations } = stack;
  await home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await startPayment<typeof payReserved>(operations.client, "payReserved", {
    key: "own",
    args: [{ ...payout("own"), beneficiary_id: known }],
    startedBy: "ada",
  });
  await expect(result("payReserved/own")).rejects.toThrow();
  const { failure } = await readRun(
    { ledger: operations.ledger, temporal: operations, whyNot: [] },
    "payReserved/own",
  );
  expect(failure?.message).toMatch(/^The goods stay reserved\. Cause: ./);
  expect((await retryPayment(operations, "payReserved/own", acting)).plan.way).toBe("reset");
  await result("payReserved/own");
  expect(await paid("own")).toBe(1);
  expect(stack.reserved()).toBe(1);
}, 60_000);

test("what a person ended is not retried, unless that is overruled: whoever comes second changes nothing", async () => {
  const { home, operations } = stack;
  await home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await startRun(operations, "fraud", planned("fraud"), ada);
  await expect(result("fraud")).rejects.toThrow();
  await cancel(operations, "fraud", { ...acting, reason: "fraud" });
  await expect(retryPayment(operations, "fraud", acting)).rejects.toThrow(
    "bob stopped fraud (fraud)",
  );
  expect(await paid("fraud")).toBe(0);
  const both = await Promise.allSettled(
    ["carol", "dan"].map((by) =>
      retryPayment(operations, "fraud", { ...acting, by, isOverruling: true }),
    ),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  // It is below every limit, but a second person has to approve what a stop order forbade.
  const isHeld = async () =>
    expect((await operations.ledger.rowsOf("fraud")).at(-1)?.question?.reason).toContain(
      "its stop order was overridden",
    );
  await vi.waitFor(isHeld, { timeout: 20_000, interval: 50 });
  for (const by of ["ada", both[0]?.status === "fulfilled" ? "carol" : "dan"])
    await expect(approveRead(operations, "fraud", { ...acting, by })).rejects.toThrow(
      "another person has to approve it",
    );
  expect(await paid("fraud")).toBe(0);
  await approveRead(operations, "fraud", { ...acting, by: "grace" });
  await result("fraud");
  expect(await paid("fraud")).toBe(1);
}, 30_000);

test("each row of a file is paid once, and counted", async () => {
  const { operations } = stack;
  const folder = await mkdtemp(join(tmpdir(), "rows-"));
  const file = join(folder, "rows.jsonl");
  const rows = ["r1", "r2", "r3"].map((key) => ({
    key,
    beneficiary_id: known,
    payout: payout(key),
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { by: "ada", how: "--by" };
  await payFile(operations, checked, await planFile(operations, checked, options), options);
  await result(`${checked.batch}/1`);
  await rm(folder, { recursive: true });
  expect(await operations.ledger.batchCounts(checked.batch)).toMatchObject([
    { status: "succeeded", rows: 3 },
  ]);
  expect(await Promise.all(["r1", "r2", "r3"].map(paid))).toEqual([1, 1, 1]);
  // Trackers and batches are no payments.
  const { runs } = await listRuns(operations, {}, { limit: 50 });
  expect(new Set(runs.map(({ type }) => type))).toEqual(
    new Set(["payout", "payReserved", "issueFrozenCard", "payWages"]),
  );
  const allPaid = async () =>
    expect((await readOverview(operations.ledger, lateAfterMsOf())).underWay).toEqual({
      payouts: 0,
      money: [],
    });
  await vi.waitFor(allPaid, { timeout: 5_000 });
}, 60_000);

test("a replay of all open runs covers those without a write, and counts those of other task queues", async () => {
  const { client } = stack.operations;
  const start = (workflowId: string, taskQueue: string) =>
    client.workflow.start<typeof waitThenPay>("waitThenPay", {
      workflowId,
      taskQueue,
      args: [{ ...payout("later"), beneficiary_id: known }],
    });
  const [waiting, other] = await Promise.all([
    start("waiting", "payments"),
    start("other", "else"),
  ]);
  onTestFinished(async () => {
    await Promise.all([waiting.terminate(), other.terminate()]);
  });
  await expect.poll(async () => (await waiting.fetchHistory()).events?.length).toBeGreaterThan(8);
  const selection = { isOpen: true };
  const listed = async () => {
    let others = 0;
    const selected = selectRuns(stack.operations, selection, ({ runs }) => (others += runs));
    const ids: Array<string> = [];
    for await (const { workflowId } of selected) ids.push(workflowId);
    return others === 1 && ids.includes("waiting");
  };
  // Temporal lists a new run after about a second.
  await expect.poll(listed, { timeout: 20_000 }).toBe(true);
  const skipped: Array<SkippedRuns> = [];
  const selected = selectRuns(stack.operations, selection, (some) => skipped.push(some));
  const found = new Map<string, boolean>();
  const workflows = fileURLToPath(new URL("support/changed-workflows.ts", import.meta.url));
  for await (const { deterministic, workflowId } of replayRuns(selected, workflows))
    found.set(workflowId, deterministic);
  expect(found.get("waiting")).toBe(false);
  expect(found.get(trackerId(stack.operations.account))).toBe(true);
  expect(skipped).toEqual([{ reason: "not on the task queue payments", runs: 1 }]);
});
