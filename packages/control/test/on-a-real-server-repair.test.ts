import { findRun } from "@durable-payments/protocol";
import { defaultAssumptions } from "@durable-payments/client/effect";
import { LedgerUnavailable, openLedger } from "@durable-payments/ledger";
import * as inputs from "@durable-payments/tools/test-data/inputs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { checkBatchFile, decideBatch, payFile, planFile } from "../src/actions/batch/index.ts";
import type { RepairOptions } from "../src/actions/retry/repair.ts";
import {
  planRepair,
  planRetryOf,
  type RetryOptions,
  retryPayment,
  startRepair,
} from "../src/actions/retry/retry.ts";
import { startPayment, startPaymentAt, startRun } from "../src/actions/start.ts";
import { cancelBatch, pause, resume } from "../src/actions/stopping.ts";
import { readAmendments } from "../src/facts/read-amendments.ts";
import { planOnboarding, planPayout } from "../src/rules/input.ts";
import { decisionText } from "../src/rules/decision-text.ts";
import { batchOfId, readLog, readRun } from "../src/views/index.ts";
import { readBatch } from "../src/views/batch.ts";
import { type Payments, paymentsOn, payout, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import { plannedRepair, repaired } from "./support/repairing.ts";
import type { payByChild, payReserved } from "./support/workflows.ts";

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
  // Temporal deletes it when it has time.
  const isDeleted = () =>
    expect(client.workflow.getHandle("many-deleted").describe()).rejects.toThrow();
  await vi.waitFor(isDeleted, { timeout: 60_000, interval: 200 });
  // It is paid, and its run was terminated: nothing is left to retry.
  await startRun(stack.operations, "many-paid", payments.planned("many-paid"), ada);
  const isMade = async () =>
    expect(await ledger.rowsOf("many-paid")).toMatchObject([{ state: "done" }]);
  await vi.waitFor(isMade, { timeout: 20_000, interval: 50 });
  await client.workflow.getHandle("many-paid").terminate("stuck");
  const [paid] = await ledger.rowsOf("many-paid");
  const seen = { word: "completed", outcome: "completed", asks: false, problem: null } as const;
  await ledger.sawPayout(paid?.account ?? "", paid?.madeId ?? "", seen);
  await ledger.recordEnds([{ ...ended, workflowId: "many-paid", endState: "terminated" }]);
  const isListed = async () => {
    const { notHelped, retries } = await plannedRepair(stack.operations, bob, { find: "many-" });
    expect(Object.fromEntries(retries.map(({ way, workflowId }) => [workflowId, way]))).toEqual({
      "many-1": "start",
      "many-deleted": "start",
    });
    expect(notHelped).toEqual([]);
  };
  await vi.waitFor(isListed, { timeout: 20_000, interval: 200 });
  // What the worker finds at a row's turn is the reason why it is left out.
  const repair = await repaired(stack.operations, bob, { find: "many-" });
  const isOver = async () =>
    expect(
      new Map((await ledger.listRows(repair)).map((row) => [row.workflowId, row])),
    ).toMatchObject(
      new Map([
        ["many-1", { status: "succeeded" }],
        ["many-deleted", { status: "covered", reason: expect.stringContaining("input") }],
      ]),
    );
  await vi.waitFor(isOver, { timeout: 30_000, interval: 200 });
}, 120_000);

test("after an amendment the ledger has the amended payment, and the log both", async () => {
  const { ledger } = stack.operations;
  await failing("amended");
  const patch = { payout: { amount: "7.50" } };
  const amend = patch;
  const { runId } = await retryPayment(stack.operations, "amended", { ...bob, amend });
  expect(await ledger.runs({ workflowIds: ["amended"] })).toMatchObject([{ amount: "7.50" }]);
  const decisions = await ledger.decisionsOf("amended");
  expect(decisions.find(({ kind }) => kind === "amend")?.value["changed"]).toEqual([
    expect.stringMatching(/^payout\.amount: .* → 7\.50$/),
  ]);
  await result("amended", runId);
  // Under another id, the payment would be made twice.
  const { input, ...of } = payments.planned("amended");
  const isAmended = "bob amended amended: pass the amended input";
  await expect(startRun(stack.operations, "amended", { ...of, input }, ada)).rejects.toThrow(
    isAmended,
  );
  const { client } = stack.operations;
  const again = { ...ada, workflowId: "amended", args: [input], ledger };
  await expect(startPaymentAt(Date.now(), client, "payout", again)).rejects.toThrow(isAmended);
  const other = { ...input, payout: { ...payout("amended"), amount: "7.50" } };
  expect(await startRun(stack.operations, "amended", { ...of, input: other }, ada)).toMatchObject({
    isNew: false,
  });
}, 60_000);

test("another key is no amendment: what was made under the first one would be paid again", async () => {
  const { input } = payments.planned("other-key");
  const hasty = { ...input, options: { completeWithin: "1 second" } };
  await startRun(stack.operations, "other-key", planPayout(hasty, defaultAssumptions), ada);
  await expect(result("other-key")).rejects.toMatchObject({ cause: { type: "PayoutStillOpen" } });
  const amend = { key: "again" };
  const retried = retryPayment(stack.operations, "other-key", { ...bob, amend });
  await retried.then(({ runId }) => result("other-key", runId)).catch(() => undefined);
  expect(await payments.paid("other-key")).toBe(1);
  await expect(retried).rejects.toThrow("The key cannot be amended");
}, 60_000);

test("an amendment that came too late changes no report of the run that was retried before", async () => {
  const { ledger } = stack.operations;
  await failing("late");
  let first: Promise<{ readonly runId: string }> | undefined;
  const beaten = {
    ...ledger,
    decide: async (...given: Parameters<typeof ledger.decide>) => {
      if (given[0].kind === "retry") await (first ??= retryPayment(stack.operations, "late", bob));
      return ledger.decide(...given);
    },
  };
  const amend = { payout: { amount: "7.50" } };
  const given = { ...stack.operations, ledger: beaten };
  await expect(retryPayment(given, "late", { ...bob, amend })).rejects.toThrow("by someone else");
  expect(await ledger.runs({ workflowIds: ["late"] })).toMatchObject([{ amount: "250.00" }]);
  await result("late", (await first)?.runId);
  expect(await payments.paid("late")).toBe(1);
}, 60_000);

test("a child is retried and amended by its root, also in a repair", async () => {
  const { client, taskQueue } = stack.operations;
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const { input } = payments.planned("of-child");
  const parent = await client.workflow.start<typeof payByChild>("payByChild", {
    workflowId: "parent",
    taskQueue,
    args: ["parent/child", input],
  });
  await expect(parent.result()).rejects.toThrow();
  const amend = { payout: { amount: "7.50" } };
  await expect(
    planRetryOf(stack.operations, "parent/child", { ...bob, amend }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("is a child of parent"),
    next: { action: "retry", workflowId: "parent", isAmended: true },
  });
  const isPlanned = async () => {
    const { notHelped, retries } = await plannedRepair(stack.operations, bob, { find: "parent" });
    expect(retries).toEqual([]);
    expect(notHelped).toMatchObject([
      { workflowId: "parent/child", whyNot: expect.stringContaining("retry parent") },
    ]);
  };
  await vi.waitFor(isPlanned, { timeout: 20_000, interval: 200 });
}, 60_000);

test("a run that has just failed is in the next repair, before the tracker has recorded its end", async () => {
  const { client } = stack.operations;
  await failing("just-now");
  // No tracker has this ledger.
  const ledger = await openLedger("memory");
  onTestFinished(() => ledger.close());
  const [known] = await stack.operations.ledger.runs({ workflowIds: ["just-now"] });
  const { account = null, payee = null, reference = null, runId = null } = known ?? {};
  const run = { account, payee, reference, runId, workflowId: "just-now", type: "payout" };
  const more = { amount: "250.00", currency: "USD", batch: null, batchRow: null };
  await ledger.recordRun({ ...run, ...more }, Date.now());
  // A role that may only read sees what was recorded.
  let isRefused = false;
  const recordEnds = () => {
    isRefused = true;
    return Promise.reject(new LedgerUnavailable("permission denied"));
  };
  const isRead = async () => {
    await planRepair({ client, ledger: { ...ledger, recordEnds } }, {}, bob);
    expect(isRefused).toBe(true);
  };
  await vi.waitFor(isRead, { timeout: 10_000, interval: 100 });
  // Temporal's own list has it soon, too.
  const isPlanned = async () => {
    const plan = await planRepair({ client, ledger }, {}, bob);
    expect(plan.retries).toMatchObject([{ workflowId: "just-now" }]);
  };
  await vi.waitFor(isPlanned, { timeout: 10_000, interval: 100 });
}, 60_000);

const outcomes = async (repair: string): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    (await stack.operations.ledger.listRows(repair)).map((row) => [row.workflowId, row.status]),
  );

/** Retries a run by hand, as somebody who had planned it before a repair began. */
const retriedByHand = async (id: string): Promise<string> => {
  const { ledger } = stack.operations;
  const before = { ...ledger, repairOf: () => Promise.resolve(undefined) };
  return (await retryPayment({ ...stack.operations, ledger: before }, id, bob)).runId;
};

/** Waits until the ledger has these runs as failed. */
const untilFailed = (find: string, runs: number) =>
  vi.waitFor(
    async () => {
      const { retries } = await plannedRepair(stack.operations, bob, { find });
      expect(retries).toHaveLength(runs);
    },
    { timeout: 20_000, interval: 200 },
  );

const isRepaired = (repair: string, wanted: Awaited<ReturnType<typeof outcomes>>) =>
  vi.waitFor(async () => expect(await outcomes(repair)).toEqual(wanted), {
    timeout: 40_000,
    interval: 200,
  });

test("two repairs of the same runs, and a retry by hand in the meantime, pay each once; the one who came late is told", async () => {
  const ids = ["twice-1", "twice-2", "twice-3"];
  for (const id of ids) await failing(id);
  await untilFailed("twice-", 3);
  await pause(stack.operations, undefined, { ...bob, reason: "test" });
  const options = { ...bob, rate: 100 };
  const plan = (find: string) => plannedRepair(stack.operations, options, { find });
  // Both were planned before one was started.
  const plans = await Promise.all(["twice-", "twice-1"].map(plan));
  const begin = async (of: (typeof plans)[number]) =>
    (await startRepair(stack.operations, of, options, "failed runs")).id;
  const [held = "", other = ""] = await Promise.all(plans.map(begin));
  const runId = await retriedByHand("twice-2");
  await resume(stack.operations, undefined, bob);
  await result("twice-2", runId);
  const isOver = async () => {
    const [one, two] = [await outcomes(held), await outcomes(other)];
    expect(one["twice-2"]).toBe("covered");
    expect(one["twice-3"]).toBe("succeeded");
    expect(new Set([one["twice-1"], two["twice-1"]])).toEqual(new Set(["covered", "succeeded"]));
  };
  await vi.waitFor(isOver, { timeout: 40_000, interval: 200 });
  for (const id of ids) expect(await payments.paid(id)).toBe(1);
  const { ledger } = stack.operations;
  const rowOf = async (workflowId: string) =>
    (await batchOfId(ledger, held, true)).listed?.find((row) => row.workflowId === workflowId);
  expect((await rowOf("twice-2"))?.reason).toMatch(/^It was retried by bob in the meantime\./);
  // Each run has succeeded, by whichever retry.
  await vi.waitFor(
    async () => expect(await readBatch(ledger, held)).toMatchObject({ outcome: "paid" }),
    {
      timeout: 20_000,
      interval: 200,
    },
  );
  // Its rows that others have retried are not among what it has sent.
  expect((await ledger.batchCounts(held)).map(({ status }) => status)).toContain("covered");
}, 90_000);

test("a repair that another one follows says so, and keeps the runs that it made apart from those that were retried again", async () => {
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout", times: 2 });
  await startRun(stack.operations, "again", payments.planned("again"), ada);
  await expect(result("again")).rejects.toThrow();
  await untilFailed("again", 1);
  const first = await repaired(stack.operations, bob, { find: "again" });
  await isRepaired(first, { again: "failed" });
  const second = await repaired(stack.operations, bob, { find: "again" });
  await isRepaired(second, { again: "succeeded" });
  const { notPaid } = await batchOfId(stack.operations.ledger, first);
  expect(notPaid).toMatchObject([{ reason: `Retried again later by ${second}.` }]);
  expect((await batchOfId(stack.operations.ledger, second)).notPaid).toEqual([]);
}, 90_000);

test("a repeated command is the same repair, and no other one takes what a repair has yet to retry", async () => {
  const { ledger } = stack.operations;
  const ids = ["repeat-1", "repeat-2", "repeat-3"];
  for (const id of ids) await failing(id);
  await untilFailed("repeat-", 3);
  await pause(stack.operations, undefined, { ...bob, reason: "test" });
  const filter = { find: "repeat-" };
  const repair = await repaired(stack.operations, bob, filter);
  expect(await repaired(stack.operations, bob, filter)).toBe(repair);
  await expect(retryPayment(stack.operations, "repeat-2", bob)).rejects.toThrow(
    `cancel ${repair} to retry the run in another way`,
  );
  expect(
    await readRun({ ledger, temporal: stack.operations, whyNot: [] }, "repeat-2"),
  ).toMatchObject({
    reason: expect.stringContaining(repair),
    next: expect.arrayContaining([{ action: "show", workflowId: repair }]),
  });
  const runId = await retriedByHand("repeat-2");
  // One of its runs has not failed any more.
  const whyNot = expect.stringContaining(`The open repair ${repair}`);
  const isLeft = async () => {
    const { notHelped, retries } = await plannedRepair(stack.operations, bob, filter);
    expect(retries).toEqual([]);
    expect(new Map(notHelped.map((one) => [one.workflowId, one.whyNot]))).toEqual(
      new Map([
        ["repeat-1", whyNot],
        ["repeat-3", whyNot],
      ]),
    );
  };
  await vi.waitFor(isLeft, { timeout: 20_000, interval: 200 });
  await expect(repaired(stack.operations, bob, filter)).rejects.toThrow(repair);
  await cancelBatch(stack.operations, repair, bob);
  await resume(stack.operations, undefined, bob);
  await result("repeat-2", runId);
  // What it has not retried is free again.
  const again = await repaired(stack.operations, bob, filter);
  await isRepaired(again, { "repeat-1": "succeeded", "repeat-3": "succeeded" });
  expect(await ledger.batch(repair)).toMatchObject({ state: "cancelled" });
}, 90_000);

test("a repair whose worker was killed before the retry does not take the retry of a person for its own", async () => {
  const { ledger } = stack.operations;
  await failing("mine");
  await untilFailed("mine", 1);
  await pause(stack.operations, undefined, { ...bob, reason: "test" });
  const amend = { payout: { amount: "2.50" } };
  const repair = await repaired(stack.operations, { ...bob, amend }, { find: "mine" });
  const [row] = await ledger.batchRows(repair);
  const { account } = (await ledger.batch(repair)) ?? { account: "" };
  const about = { account, workflowId: "mine", step: null, question: null, ...bob } as const;
  // As far as it came.
  await ledger.decide({ ...about, kind: "amend", value: { ...row?.repair?.amend, repair } });
  const value = { runId: row?.run ?? "", way: "start", repair };
  await ledger.decide({ ...about, kind: "retry", value });
  const runId = await retriedByHand("mine");
  await resume(stack.operations, undefined, bob);
  await result("mine", runId);
  await isRepaired(repair, { mine: "covered" });
  expect(await payments.paid("mine")).toBe(1);
}, 90_000);

test("an amendment above the limits of the account is refused, in a retry and in a repair", async () => {
  const { ledger } = stack.operations;
  await failing("too-dear");
  await untilFailed("too-dear", 1);
  const account = (await ledger.rowsOf("too-dear"))[0]?.account ?? "";
  const setMax = (maxAmounts: { readonly USD: string } | null) =>
    ledger.setLimits(account, { maxAmounts, approveAbove: null }, bob);
  await setMax({ USD: "10.00" });
  onTestFinished(async () => {
    const { pending } = await setMax(null);
    await ledger.approveLimits(account, pending?.sequence ?? 0, { ...bob, by: "grace" });
  });
  const amended = (amount: string) => ({ ...bob, amend: { payout: { amount } } });
  const why = "10.01 USD is above the limit of 10.00 USD. Nothing was done.";
  const [above, within] = [amended("10.01"), amended("10.00")];
  await expect(planRetryOf(stack.operations, "too-dear", above)).rejects.toThrow(why);
  const found = { find: "too-dear" };
  await expect(planRepair(stack.operations, found, above)).rejects.toMatchObject({
    faults: [{ field: "too-dear:", problem: why }],
  });
  expect((await planRetryOf(stack.operations, "too-dear", within)).amendment).toBeDefined();
  expect(await planRepair(stack.operations, found, within)).toMatchObject({
    sums: [{ amount: "10.00", currency: "USD" }],
  });
}, 60_000);

test("a repair whose amended payments are above the limit waits for a second person, who sees what changes", async () => {
  const { ledger } = stack.operations;
  await failing("dear");
  await untilFailed("dear", 1);
  const amend = { payout: { payout_reference: "dear amended" } };
  const options = { ...bob, reason: "reference", amend, approveAbove: "1.00" };
  const repair = await repaired(stack.operations, options, { find: "dear" });
  expect(await ledger.batch(repair)).toMatchObject({ state: "needsApproval", type: "repair" });
  const { listing, reason } = await batchOfId(ledger, repair);
  expect(reason).toBe("reference");
  expect(listing?.rows).toMatchObject([
    { workflowId: "dear", shown: expect.stringContaining("payout.payout_reference:") },
  ]);
  const hash = listing?.hash ?? "";
  const approving = { by: "grace", how: "--by", hash };
  await expect(
    decideBatch(stack.operations, repair, "approve", { ...approving, by: "bob" }),
  ).rejects.toThrow("another person has to approve it");
  expect(await payments.paid("dear amended")).toBe(0);
  // What has failed before is not what the repair did.
  expect((await batchOfId(ledger, repair)).notPaid).toEqual([]);
  await decideBatch(stack.operations, repair, "approve", approving);
  expect(
    (await readLog(ledger, repair)).lines.map((line) => "kind" in line && decisionText(line)),
  ).toEqual([
    "started a repair of 1 run (failed runs), reason: reference",
    expect.stringMatching(/^approved 1 row \(250\.00 USD to 1 payee\)/),
  ]);
  const isPaid = async () => expect(await outcomes(repair)).toEqual({ dear: "succeeded" });
  await vi.waitFor(isPaid, { timeout: 40_000, interval: 200 });
  expect(await payments.paid("dear amended")).toBe(1);
}, 90_000);

test("a repair is paused, resumed and cancelled by its id: what it has not retried stays failed", async () => {
  const ids = ["hold-1", "hold-2", "hold-3"];
  for (const id of ids) await failing(id);
  await untilFailed("hold-", 3);
  await pause(stack.operations, undefined, bob);
  const [held = "", stopped = "", free = ""] = await Promise.all(
    ids.map((find) => repaired(stack.operations, bob, { find })),
  );
  await pause(stack.operations, held, bob);
  await cancelBatch(stack.operations, stopped, bob);
  await resume(stack.operations, undefined, bob);
  await isRepaired(free, { "hold-3": "succeeded" });
  await isRepaired(stopped, { "hold-2": "rejected" });
  expect(await outcomes(held)).toEqual({ "hold-1": "notStarted" });
  await resume(stack.operations, held, bob);
  await isRepaired(held, { "hold-1": "succeeded" });
  const { ledger } = stack.operations;
  const isFinished = async () =>
    expect(await ledger.batch(held)).toMatchObject({ state: "finished" });
  await vi.waitFor(isFinished, { timeout: 20_000, interval: 200 });
  for (const stop of [cancelBatch, pause])
    await expect(stop(stack.operations, held, bob)).rejects.toThrow("is finished");
  expect(await ledger.batch(held)).toMatchObject({ state: "finished" });
  expect(await Promise.all(ids.map(payments.paid))).toEqual([1, 0, 1]);
  await untilFailed("hold-2", 1);
}, 120_000);

test("a cancelled repair shows what a person's own retry has paid, and the failed payment of any other run", async () => {
  const { ledger } = stack.operations;
  const ids = ["hand-1", "hand-2"];
  for (const id of ids) await failing(id);
  await untilFailed("hand-", 2);
  const options = { ...bob, amend: { payout: { amount: "7.50" } }, approveAbove: "1.00" };
  const repair = await repaired(stack.operations, options, { find: "hand-" });
  const runId = await retriedByHand("hand-1");
  await result("hand-1", runId);
  await cancelBatch(stack.operations, repair, bob);
  const rows = async () =>
    Object.fromEntries(
      ((await batchOfId(ledger, repair, true)).listed ?? []).map(
        ({ amount, reason, state, status, workflowId }) => [
          workflowId,
          [status, state, amount, reason],
        ],
      ),
    );
  // The amendment was never made.
  const isShown = async () =>
    expect(await rows()).toEqual({
      "hand-1": [
        "covered",
        "paid",
        "250.00",
        expect.stringMatching(/it was retried in the meantime$/),
      ],
      "hand-2": ["rejected", "notPaid", "250.00", "stopped by bob: tried again"],
    });
  await vi.waitFor(isShown, { timeout: 20_000, interval: 200 });
}, 90_000);

test("amendments in JSON Lines change each run that they name, and no other", async () => {
  const ids = ["lines-1", "lines-2", "lines-3"];
  for (const id of ids) await failing(id);
  await untilFailed("lines-", 3);
  const folder = await mkdtemp(join(tmpdir(), "amend-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "amend.jsonl");
  const read = async (...patches: ReadonlyArray<object>) => {
    await writeFile(file, patches.map((patch) => JSON.stringify(patch)).join("\n"));
    return { ...bob, amendEach: await readAmendments(file) };
  };
  const first = { id: "lines-1", payout: { payout_reference: "lines-1 amended" } };
  await expect(read(first, first)).rejects.toThrow("amendment 2 is the second one of lines-1");
  const strange = await read(first, { ...first, id: "lines-4" });
  await expect(plannedRepair(stack.operations, strange, { find: "lines-" })).rejects.toThrow(
    "have not failed, or do not match: lines-4",
  );
  // One invalid amendment stops all, as an unknown id does.
  const wrong = [
    { id: "lines-1", payout: { amount: "1,500.00" } },
    { id: "lines-2", payout: { amont: "7.50" } },
  ];
  const unread = await read(...wrong);
  await expect(plannedRepair(stack.operations, unread, { find: "lines-" })).rejects.toMatchObject({
    name: "InvalidInput",
    message: "2 amended inputs are invalid. Nothing was done.",
    faults: expect.arrayContaining([
      expect.objectContaining({ field: "lines-1, payout.amount:" }),
      {
        field: "lines-2, payout.amont:",
        problem: expect.stringContaining("did you mean amount?"),
      },
    ]),
  });
  // An amendment that the input already has is not refused: its run is left out, with the reason.
  const { amount } = payments.planned("lines-1").input.payout;
  const same = await read({ id: "lines-1", payout: { amount } });
  expect(await plannedRepair(stack.operations, same, { find: "lines-" })).toMatchObject({
    retries: [{}, {}],
    notHelped: [{ workflowId: "lines-1", whyNot: expect.stringContaining("changes nothing") }],
  });
  const options = await read(first, { id: "lines-2", payout: { amount: "7.50" } });
  const repair = await repaired(stack.operations, options, { find: "lines-" });
  await isRepaired(repair, Object.fromEntries(ids.map((id) => [id, "succeeded"])));
  expect(await Promise.all(["lines-1 amended", ...ids].map(payments.paid))).toEqual([1, 0, 1, 1]);
  const { payouts } = await stack.home.state();
  expect(payouts.find(({ payout_reference }) => payout_reference === "lines-2")).toMatchObject({
    amount: "7.50",
  });
}, 90_000);

test("a retry of what is likely a duplicate by now, as it was or amended, needs a reason", async () => {
  for (const id of ["equal-1", "equal-2"]) await failing(id);
  await untilFailed("equal-", 2);
  const found = { find: "equal-" };
  const notHelped = async (options: Pick<RepairOptions, "amend" | "amendEach" | "notDuplicate">) =>
    (await planRepair(stack.operations, found, { ...bob, ...options })).notHelped;
  const first = (payout_reference: string) => ({
    amendEach: { "equal-1": { payout: { payout_reference } } },
  });
  const like = (workflowId: unknown, of: string) => [
    { workflowId, whyNot: expect.stringContaining(`is likely a duplicate: the same ${of}`) },
  ];
  expect(await notHelped(first("another"))).toEqual([]);
  // The other one is retried as it was.
  const same = "payee, amount and currency as equal-2 (equal-2)";
  expect(await notHelped(first("equal-2"))).toEqual(like("equal-1", same));
  const both = { amend: { payout: { payout_reference: "equal both" } } };
  expect(await notHelped(both)).toHaveLength(1);
  // What was refused was certainly not paid, so nothing warned of the same payment under another id.
  const again = planPayout(
    { beneficiary_id: payments.known, payout: payout("equal-1") },
    defaultAssumptions,
  );
  await startRun(stack.operations, "equal again", again, ada);
  await result("equal again");
  expect(await notHelped({})).toEqual(like("equal-1", "payee, amount and currency as equal again"));
  expect(await notHelped({ notDuplicate: "two deliveries" })).toEqual([]);
  const [row] = await stack.operations.ledger.rowsOf("equal-1");
  const assumptionsOf = vi.fn<RealStack["operations"]["assumptionsOf"]>(
    stack.operations.assumptionsOf,
  );
  const retried = (options: Pick<RetryOptions, "amend" | "notDuplicate">) =>
    planRetryOf({ ...stack.operations, assumptionsOf }, "equal-1", { ...bob, ...options });
  await expect(retried({})).rejects.toMatchObject({
    message: expect.stringContaining("as equal again (equal-1)"),
    next: { action: "retry", workflowId: "equal-1", needs: "notDuplicate" },
  });
  const amend = { payout: { payout_reference: " EQUAL-1" } };
  await expect(retried({ amend })).rejects.toThrow("as equal again (equal-1)");
  // It is checked as the account that pays, and no other one, takes it.
  expect(assumptionsOf.mock.calls).toEqual([[row?.account]]);
  const notDuplicate = "two deliveries";
  await expect(retried({ notDuplicate: " " })).rejects.toThrow("Nothing was done.");
  const { runId } = await retryPayment(stack.operations, "equal-1", { ...bob, notDuplicate });
  await result("equal-1", runId);
  expect(await payments.paid("equal-1")).toBe(2);
  const { lines } = await readLog(stack.operations.ledger, "equal-1");
  const said = lines.map((line) => "kind" in line && decisionText(line));
  expect(said).toContain("retried it, no duplicate: two deliveries: tried again");
}, 60_000);

test("a run of a repair that waits is left out if an equal payment was started in the meantime", async () => {
  for (const id of ["late-1", "late-2"]) await failing(id);
  await untilFailed("late-", 2);
  await pause(stack.operations, undefined, bob);
  const repair = await repaired(stack.operations, bob, { find: "late-" });
  await pause(stack.operations, repair, bob);
  await resume(stack.operations, undefined, bob);
  const again = planPayout(
    { beneficiary_id: payments.known, payout: payout("late-1") },
    defaultAssumptions,
  );
  await startRun(stack.operations, "paid since", again, ada);
  await result("paid since");
  await resume(stack.operations, repair, bob);
  await isRepaired(repair, { "late-1": "covered", "late-2": "succeeded" });
  const { listed } = await batchOfId(stack.operations.ledger, repair, true);
  expect(listed?.find(({ workflowId }) => workflowId === "late-1")?.reason).toContain(
    "It is likely a duplicate of paid since",
  );
  expect(await payments.paid("late-1")).toBe(1);
}, 90_000);

test("a repair continues a user's own workflow from a chosen step, and no run that never reached it", async () => {
  const { client } = stack.operations;
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  const started = await startPayment<typeof payReserved>(client, "payReserved", {
    key: "from",
    args: [{ ...payout("from"), beneficiary_id: payments.known }],
    startedBy: "ada",
  });
  await expect(started.result()).rejects.toThrow();
  const id = "payReserved/from";
  await untilFailed(id, 1);
  // Its run plans no payment: the refused one is what a retry pays.
  const money = [{ currency: "USD", amount: payout("from").amount }];
  expect((await plannedRepair(stack.operations, bob, { find: id })).sums).toEqual(money);
  expect(await stack.operations.ledger.failures({ find: id })).toMatchObject([{ sums: money }]);
  const before = stack.reserved();
  const nowhere = { ...bob, from: "pack" };
  const why = `${id} never reached pack`;
  const planned = await plannedRepair(stack.operations, nowhere, { find: id });
  expect(planned).toMatchObject({
    retries: [],
    notHelped: [{ workflowId: id, whyNot: expect.stringContaining(why) }],
  });
  const unplanned = planRetryOf(stack.operations, id, nowhere);
  await expect(unplanned).rejects.toMatchObject({
    name: "NotAllowed",
    message: expect.stringContaining(why),
  });
  const chosen = { ...bob, from: "reserve" };
  expect(await plannedRepair(stack.operations, chosen, { find: id })).toMatchObject({
    retries: [{ workflowId: id, way: "reset", from: "reserve" }],
  });
  const repair = await repaired(stack.operations, chosen, { find: id });
  await isRepaired(repair, { [id]: "succeeded" });
  // By default, the step that failed runs again, and none before it.
  expect(stack.reserved()).toBe(before + 1);
  expect(await payments.paid("from")).toBe(1);
  // The money of a user's own workflow is that of its payouts.
  const isPaid = async () =>
    expect((await readBatch(stack.operations.ledger, repair)).totals).toMatchObject([
      { status: "succeeded", money: "paid", rows: 1 },
    ]);
  await vi.waitFor(isPaid, { timeout: 20_000, interval: 200 });
  const { ledger } = stack.operations;
  const { listed } = await batchOfId(ledger, repair, true);
  const [made] = await ledger.rowsOf(id);
  expect(listed).toMatchObject([
    {
      state: "paid",
      madeId: made?.madeId,
      amount: payout("from").amount,
      operation: "createPayout",
    },
  ]);
}, 90_000);

// The last: the account is limited for an hour afterwards.
test("a started file is stopped at once: each run ends, and nothing is paid", async () => {
  const { client, ledger } = stack.operations;
  const folder = await mkdtemp(join(tmpdir(), "stop-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "wrong.jsonl");
  const keys = Array.from({ length: 60 }, (_, at) => `stop-${at}`);
  const rows = keys.map((key) => ({
    key,
    beneficiary_id: payments.known,
    payout: payout(key),
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join("\n"));
  const checked = await checkBatchFile("payout", file, defaultAssumptions);
  const options = { by: "ada", how: "--by", window: 20 };
  const sleep = { kind: "rate-limited", operation: "createPayout", seconds: 3_600 } as const;
  await stack.home.addFault({ ...sleep, times: 1_000 });
  await payFile(
    stack.operations,
    checked,
    await planFile(stack.operations, checked, options),
    options,
  );
  const startedRows = async () =>
    (await ledger.batchRows(checked.batch, { limit: 60 })).filter(
      ({ state }) => state === "started",
    );
  const areStarted = async () => expect(await startedRows()).toHaveLength(20);
  await vi.waitFor(areStarted, { timeout: 20_000, interval: 100 });
  const stopped = await cancelBatch(stack.operations, checked.batch, { ...bob, isStarted: true });
  expect(stopped).toMatchObject({ notStarted: 40, stopped: 20, goOn: 0, sent: [] });
  const isOpen = async (id: string) => (await findRun(client, id))?.state === "running";
  const allEnded = async () => {
    const open = await Promise.all(keys.map((key) => isOpen(`payout/${key}`)));
    expect(open.filter(Boolean)).toEqual([]);
  };
  await vi.waitFor(allEnded, { timeout: 30_000, interval: 200 });
  expect(await Promise.all(keys.map(payments.paid))).toEqual(keys.map(() => 0));
}, 90_000);
