import { keyedName } from "@durable-payments/protocol/calls";
import { expect, it } from "vitest";
import { undoWrite } from "../../src/write/perform.ts";
import type { Attempt } from "../../src/write/guard.ts";
import { defineOperation } from "../../src/write/own-operations.ts";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { attemptOf, makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;

const KEY = "salary/2026-11/e17";

const salary = async (given: Parameters<typeof makeWorld>[0] = {}) => {
  let ahead = 0;
  const pass = () => {
    ahead += 60_000;
  };
  const clock = () => Date.now() + ahead;
  const world = await makeWorld({ ...given, clock, simulator: { clock: async () => clock() } });
  const made = await world.once({
    operation: "createBeneficiary",
    request: beneficiary,
    step: "b",
  });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  const request = { ...payout, beneficiary_id: String(made.made["beneficiary_id"]) };
  const task = { operation: "createPayout", request, key: KEY };
  /** The first send under a key waits until a list of the service proves that nobody has used it. */
  const first = async (asked: Parameters<typeof world.once>[0], workflowId: string) => {
    let testimony: Attempt["testimony"] = { is: "none" };
    for (let attempt = 1; ; attempt++) {
      const ended = await world.once(asked, { workflowId, attempt, testimony });

      if (ended.is !== "wait" || attempt === 20) return ended;
      pass();
      const { version } = ended;
      testimony = version === undefined ? undefined : { is: "version", version };
    }
  };
  const row = async () =>
    (await world.ledger.look(keyedName(world.account, "createPayout", KEY))).row;
  const payouts = async () => (await world.simulator.state()).payouts;
  return { ...world, first, pass, task, keyed: row, payouts };
};

it("the same request under a key returns the kept result to any workflow, whatever its step is called", async () => {
  const world = await salary();
  const first = await world.first(world.task, "payroll-1");
  expect(first).toMatchObject({ is: "done" });
  const again = { ...world.task, step: "other", isNamed: true };
  expect(await world.once(again, { workflowId: "payroll-2" })).toEqual(first);
  expect(await world.payouts()).toHaveLength(1);
});

it("a key in another Unicode normal form, a payout by the id and a row of a file are one write", async () => {
  const world = await salary();
  const paid = await world.first({ ...world.task, key: "caf\u00e9" }, "payroll-1");
  const decomposed = { ...world.task, key: "cafe\u0301" };
  expect(await world.once(decomposed, { workflowId: "payroll-2" })).toEqual(paid);
  const { key: _, ...plain } = world.task;
  expect(await world.once(plain, { workflowId: "payout/caf\u00e9" })).toEqual(paid);
  expect(await world.payouts()).toHaveLength(1);
});

it("another request under a key fails, and names the workflow that has used it; a step's name is no amendment", async () => {
  const world = await salary();
  await world.first(world.task, "payroll-1");
  const request = { ...world.task.request, amount: "251.00" };
  const other = { ...world.task, request, step: "s", isNamed: true };
  expect(await world.once(other, { workflowId: "payroll-2" })).toMatchObject({
    is: "fail",
    type: "AlreadyCarriedOut",
    message: expect.stringContaining("payroll-1"),
  });
  expect(await world.payouts()).toHaveLength(1);
});

it("an answer to resend sends what was asked about, not another request under the key, however its step is named", async () => {
  const world = await salary();
  await world.first({ ...world.task, approveAbove: "100" }, "payroll-1");
  const name = keyedName(world.account, "createPayout", KEY);
  await world.ledger.transact(name, (look) => {
    if (look.row === undefined) return {};
    const question = { id: "q-1", kind: "outcome", reason: "lost", candidates: [] } as const;
    const asked = { ...question, account: null, since: look.now };
    return { row: { ...look.row, state: "asking", doubt: 1, question: asked } };
  });
  await world.ledger.decide({
    ...name,
    kind: "resend",
    question: "q-1",
    by: "ada",
    how: "test",
    reason: null,
    value: {},
  });
  const request = { ...world.task.request, amount: "251.00" };
  const other = { ...world.task, request, step: "s", isNamed: true };
  await world.first(other, "payroll-2");
  expect(await world.payouts()).toEqual([]);
});

it("the first send under a key is reconciled, even if its run is the first of its id: another may have used it", async () => {
  const world = await salary();
  const first = await world.once(world.task, { workflowId: "payroll-1" });
  expect(first).toMatchObject({ is: "wait", why: "It is not listed yet." });
  expect(await world.payouts()).toHaveLength(0);
});

it("of two runs that the same list lets send, the slow one sends, and the other waits seconds for its result", async () => {
  const world = await salary();
  const runs = ["payroll-1", "payroll-2"].map((workflowId) => ({
    workflowId,
    runId: workflowId,
    testimony: undefined,
  }));
  for (const run of runs)
    expect(await world.once(world.task, run)).toMatchObject({ why: "It is not listed yet." });
  world.pass();
  const [slow, other] = runs;
  let meanwhile: Awaited<ReturnType<typeof world.once>> | undefined;
  // The other run begins after the slow one has read the list, and before it sends.
  const transact: typeof world.ledger.transact = async (...given) => {
    const look = await world.ledger.transact(...given);
    if (look.row?.state === "ready") meanwhile ??= await world.once(world.task, other);
    return look;
  };
  const engine = { ...world.engine, ledger: { ...world.ledger, transact } };
  const paid = await world.once(world.task, slow, engine);
  expect(paid).toMatchObject({ is: "done" });
  expect(meanwhile).toMatchObject({ is: "wait", delayMs: 5_000 });
  expect(await world.once(world.task, other)).toEqual(paid);
  expect(await world.payouts()).toHaveLength(1);
});

it("a workflow whose key another one waits for does not wait for its nudge, but looks again within minutes", async () => {
  const world = await salary();
  const task = { ...world.task, approveAbove: "100" };
  expect(await world.first(task, "payroll-1")).toMatchObject({
    is: "waiting",
    needs: "approval",
  });
  for (const attempt of [1, 30]) {
    const waits = await world.once(task, {
      workflowId: "payroll-2",
      attempt,
      testimony: undefined,
    });
    expect(waits).toMatchObject({ is: "wait", why: expect.stringContaining("approve") });
    expect(waits.is === "wait" && waits.delayMs).toBeLessThanOrEqual(5 * 60_000);
  }
  expect(await world.keyed()).toMatchObject({ ownerId: "payroll-1" });
});

it("what was made under a key is undone once", async () => {
  const undone: Array<string> = [];
  const reserve = defineOperation<{ orderId: string }>({
    repeat: "keyed",
    send: async ({ orderId }) => ({ id: `r-${orderId}` }),
    undo: async (id) => void undone.push(id),
  });
  const world = await salary({ operations: { reserve } });
  const task = { operation: "reserve", request: { orderId: "17" }, key: KEY };
  expect(await world.until(task, { workflowId: "order-1" })).toMatchObject({ is: "done" });
  const call = {
    operation: "reserve",
    step: "reserve",
    key: KEY,
    rootId: "order-1",
    runId: "run-1",
    isContinued: false,
    call: 1,
    isFirst: true,
  };
  const undo = (workflowId: string) => undoWrite(world.engine, attemptOf({ workflowId }), call);
  expect(await undo("order-1")).toMatchObject({ is: "done", made: { id: "r-17" } });
  expect(await undo("order-2")).toEqual({ is: "done", made: {} });
  expect(undone).toEqual(["r-17"]);
});
