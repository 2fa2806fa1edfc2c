import { openLedger } from "@durable-payments/ledger";
import type { Workflows } from "@durable-payments/protocol";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { answer, reject } from "../src/actions/decide/index.ts";
import { cancel } from "../src/actions/stopping.ts";
import { retryPayment } from "../src/actions/retry/retry.ts";
import { recover } from "../src/actions/recovery.ts";
import { paidBy } from "../src/actions/start-request.ts";
import { startPayment, startRun } from "../src/actions/start.ts";
import { paymentOf } from "../src/rules/payment.ts";
import { type Payments, paymentsOn, type RealStack } from "./support/payments.ts";
import { startRealStack } from "./support/real-stack.ts";
import { plannedRepair } from "./support/repairing.ts";
import { resetToBegin } from "./support/reset.ts";
import type { payKeyed } from "./support/workflows.ts";
import { approveRead } from "./support/approving.ts";

let stack: RealStack;
let known: string;
let planned: Payments["planned"];
let result: Payments["result"];
let paid: Payments["paid"];

const ada = { startedBy: "ada" };
const bob = { by: "bob", how: "--by", reason: "fraud" };

beforeAll(async () => {
  stack = await startRealStack();
  ({ known, paid, planned, result } = await paymentsOn(stack));
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose](), 30_000);

const questionOf = (workflowId: string, kind: "approval" | "outcome"): Promise<string> =>
  vi.waitFor(
    async () => {
      const rows = await stack.operations.ledger.rowsOf(workflowId);
      const question = rows.find((row) => row.question?.kind === kind)?.question;
      if (!question) throw new Error(`${workflowId} asks nothing so far`);
      return question.id;
    },
    // A question comes once the list has been read after its lag.
    { timeout: 40_000, interval: 50 },
  );

const startByHand = (workflowId: string, reference = workflowId) =>
  stack.operations.client.workflow.start<Workflows["payout"]>("payout", {
    workflowId,
    taskQueue: stack.operations.taskQueue,
    args: [planned(reference).input],
    workflowIdReusePolicy: "ALLOW_DUPLICATE",
  });

/** Sets the amounts above which the account needs approvals; a second person approves that there are none. */
const limit = async (approveAbove: Readonly<Record<string, string>> | null): Promise<void> => {
  const { account, ledger } = stack.operations;
  const eve = { by: "eve", how: "--by", reason: "audit" };
  const { pending } = await ledger.setLimits(account, { approveAbove, maxAmounts: null }, eve);
  if (pending) await ledger.approveLimits(account, pending.sequence, bob);
};

/** Ways in which a person ends a payout before it is paid. */
const ends = {
  cancelled: async (id: string) => {
    await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await startRun(stack.operations, id, planned(id), ada);
    await expect(result(id)).rejects.toThrow();
    await cancel(stack.operations, id, bob);
  },
  answered: async (id: string) => {
    const { account, ledger } = stack.operations;
    await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
    await startRun(stack.operations, id, planned(id), ada);
    await expect(result(id)).rejects.toThrow();
    const amended = planned(`${id} amended`).input;
    // Nothing vouches for the amended request that somebody starts by hand, so a person is asked.
    await ledger.decide({
      ...bob,
      account,
      workflowId: id,
      step: null,
      kind: "amend",
      question: null,
      value: paidBy("payout", amended, paymentOf(amended, ledger)),
    });
    await startByHand(id, `${id} amended`);
    const question = await questionOf(id, "outcome");
    await answer(stack.operations, id, { ...bob, choose: "end", question });
    await expect(result(id)).rejects.toThrow();
    expect(await paid(`${id} amended`)).toBe(0);
  },
  rejected: async (id: string) => {
    await limit({ USD: "0" });
    await startRun(stack.operations, id, planned(id), ada);
    const question = await questionOf(id, "approval");
    await reject(stack.operations, id, { ...bob, question });
    await expect(result(id)).rejects.toThrow();
    await limit(null);
  },
};

test.each(["cancelled", "rejected", "answered"] as const)(
  "what a person has %s is not paid by retry, bulk retry, reset or a new start",
  async (way) => {
    const { ledger } = stack.operations;
    await ends[way](way);
    const again = async (): Promise<void> => {
      await expect(retryPayment(stack.operations, way, bob)).rejects.toThrow(`bob stopped ${way}`);
      const { retries } = await plannedRepair(stack.operations, bob);
      expect(retries.map(({ workflowId }) => workflowId)).not.toContain(way);
      const reset = await resetToBegin(stack.operations, way);
      await expect(result(way, reset)).rejects.toThrow();
      await expect((await startByHand(way)).result()).rejects.toThrow();
      expect(await paid(way)).toBe(0);
    };
    await again();
    await ledger.recover({ by: "carol", how: "--by", reason: "restored" });
    await again();
  },
  60_000,
);

test("the id of a payout sends what its start says; what an amendment by retry says, too", async () => {
  const id = "bound";
  await stack.home.addFault({ kind: "refusal-in-200", operation: "createPayout" });
  await startRun(stack.operations, id, planned(id), ada);
  await expect(result(id)).rejects.toThrow();
  const patch = { payout: { payout_reference: `${id} amended` } };
  const amend = patch;
  await retryPayment(stack.operations, id, { ...bob, amend });
  await result(id);
  expect(await paid(`${id} amended`)).toBe(1);
}, 60_000);

test("a run that a person ended is open in a restored Temporal: a retry only has it look, and it sends nothing", async () => {
  const { account, client, ledger } = stack.operations;
  const id = "restored";
  await limit({ USD: "0" });
  await startRun(stack.operations, id, planned(id), ada);
  await questionOf(id, "approval");
  const { runId } = await client.workflow.getHandle(id).describe();
  await limit(null);
  // Recorded after the copy of Temporal was made.
  const end = { account, workflowId: id, step: null, kind: "end", question: null } as const;
  await ledger.decide({ ...end, ...bob, value: {} });
  const ifRun = { ...bob, ifRun: runId };
  expect(await retryPayment(stack.operations, id, ifRun)).toMatchObject({ plan: { way: "look" } });
  await expect(result(id)).rejects.toThrow();
  await expect(retryPayment(stack.operations, id, ifRun)).rejects.toThrow("bob stopped");
  expect((await ledger.decisionsOf(id)).map(({ kind }) => kind)).toEqual(["start", "end"]);
  expect(await paid(id)).toBe(0);
}, 60_000);

test("an end that only Temporal remembers is recorded again by recover; a cancellation by Temporal's own tools is none", async () => {
  const { client, ledger } = stack.operations;
  await startRun(stack.operations, "sent", planned("sent"), ada);
  const isSent = async () => expect(await ledger.rowsOf("sent")).toMatchObject([{ state: "done" }]);
  await vi.waitFor(isSent, { timeout: 20_000, interval: 50 });
  await cancel(stack.operations, "sent", bob);
  await expect(result("sent")).rejects.toThrow("cancelled");
  await limit({ USD: "0" });
  const ids = ["forced", "asked", "turned-down", "by-hand", "terminated-by-hand"];
  for (const id of ids) {
    await startRun(stack.operations, id, planned(id), ada);
    await questionOf(id, "approval");
  }
  await cancel(stack.operations, "forced", { ...bob, isForced: true });
  await cancel(stack.operations, "asked", bob);
  await reject(stack.operations, "turned-down", bob);
  await client.workflow.getHandle("by-hand").cancel();
  await client.workflow.getHandle("terminated-by-hand").terminate("stuck");
  await Promise.all(ids.map((id) => expect(result(id)).rejects.toThrow()));
  const lost = await openLedger("memory");
  const restored = { ...stack.operations, ledger: lost };
  const { ends } = await recover(restored, {
    ...bob,
    by: "carol",
    reason: "restored",
    isDryRun: false,
  });
  expect(ends).toEqual(expect.arrayContaining(["forced", "asked", "sent"]));
  expect(ends).not.toContain("by-hand");
  expect(ends).not.toContain("terminated-by-hand");
  for (const id of ["forced", "asked"])
    expect(await lost.decisionsOf(id)).toMatchObject([
      {
        by: "bob",
        how: "Temporal, recovered by carol",
        reason: "fraud",
        value: { recovered: true },
      },
    ]);
  expect(await lost.decisionsOf("turned-down")).toMatchObject([
    { kind: "end", by: "bob", reason: "fraud", value: { recovered: true, rejected: true } },
  ]);
  await expect(retryPayment(restored, "forced", bob)).rejects.toThrow("bob stopped forced");
  await lost.close();
  await limit(null);
}, 60_000);

test("an end that is overruled is paid once: after a recovery, and of a run that is open in a restored Temporal", async () => {
  const { account, ledger } = stack.operations;
  const overrule = { ...bob, isOverruling: true };
  const [closed, open] = ["overruled", "overruled-open"] as const;
  await limit({ USD: "0" });
  for (const id of [closed, open]) {
    await startRun(stack.operations, id, planned(id), ada);
    await questionOf(id, "approval");
  }
  await limit(null);
  await cancel(stack.operations, closed, bob);
  await expect(result(closed)).rejects.toThrow();
  const end = { account, workflowId: open, step: null, kind: "end", question: null } as const;
  await ledger.decide({ ...end, ...bob, value: {} });
  await retryPayment(stack.operations, open, overrule);
  await recover(stack.operations, { ...bob, isDryRun: false });
  await retryPayment(stack.operations, closed, overrule);
  for (const id of [open, closed]) {
    const question = await questionOf(id, "approval");
    // Who overrode the stop order has a part in it, as who started it.
    for (const by of [bob.by, ada.startedBy])
      await expect(approveRead(stack.operations, id, { ...bob, by, question })).rejects.toThrow(
        "another person has to approve it",
      );
    await approveRead(stack.operations, id, { ...bob, by: "carol", question });
  }
  await Promise.all([result(open), result(closed)]);
  expect([await paid(closed), await paid(open)]).toEqual([1, 1]);
}, 90_000);

test("a rejected key pays for no workflow, until a payout under it is retried with override and approved by another person", async () => {
  const { client, ledger } = stack.operations;
  const id = "payout/salary/rejected";
  const plan = planned("salary/rejected");
  const { payout } = plan.input as { readonly payout: object };
  const start = (key: string) =>
    startPayment<typeof payKeyed>(client, "payKeyed", {
      key,
      ...ada,
      ledger,
      args: [
        "salary/rejected",
        { ...payout, beneficiary_id: known } as Parameters<typeof payKeyed>[1],
      ],
    });
  const isRejected = { cause: { type: "Rejected" } };
  const first = await start("first");
  await reject(stack.operations, id, { ...bob, question: await questionOf(id, "approval") });
  await expect(first.result()).rejects.toMatchObject(isRejected);
  await expect((await start("second")).result()).rejects.toMatchObject(isRejected);
  const run = await startPayment<(input: typeof plan.input) => Promise<unknown>>(client, "payout", {
    key: "salary/rejected",
    ...ada,
    ledger,
    args: [plan.input],
    notDuplicate: "It is owed after all",
  });
  await expect(run.result()).rejects.toMatchObject(isRejected);
  await retryPayment(stack.operations, id, { ...bob, by: "ada", isOverruling: true });
  const question = await questionOf(id, "approval");
  await approveRead(stack.operations, id, { ...bob, by: "eve", question });
  const { payout_id } = (await result(id)) as { readonly payout_id: string };
  expect(await (await start("third")).result()).toBe(payout_id);
  expect(await paid("salary/rejected")).toBe(1);
}, 60_000);
