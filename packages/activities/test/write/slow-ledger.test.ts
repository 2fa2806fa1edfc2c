import { advance, type Call, type Ledger } from "@durable-payments/ledger";
import { PERMITTED_FOR_MS } from "@durable-payments/client/values";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { makeWorld } from "../support/writes.ts";

/**
 * A commit may take up to 30 s: a full disk queue, a failover, a busy database. Payouts are still made, each once, as long
 * as the time from an attempt's start allows it; and what a person has confirmed meanwhile is obeyed. The clock is moved,
 * so that nothing waits.
 */

const { unique_request_id: _, ...payout } = withKey;
const actor = { by: "ada", how: "terminal", reason: "audit" } as const;

/** A payable task, and a ledger each of whose commits takes `commitMs`; `meanwhile` comes after the first has decided. */
const slowWorld = async (commitMs: number, meanwhile?: (ledger: Ledger) => Promise<unknown>) => {
  const world = await makeWorld();
  const made = await world.once({
    operation: "createBeneficiary",
    request: beneficiary,
    step: "b",
  });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  const request = { ...payout, beneficiary_id: String(made.made["beneficiary_id"]) };
  const { ledger } = world;
  let late = 0;
  let commits = 0;
  const now = Date.now.bind(Date);
  const monotonic = performance.now.bind(performance);
  vi.spyOn(Date, "now").mockImplementation(() => now() + late);
  vi.spyOn(performance, "now").mockImplementation(() => monotonic() + late);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const transact: Ledger["transact"] = async (...given) => {
    const look = await ledger.transact(...given);
    commits += 1;
    if (commits === 1) await meanwhile?.(ledger);
    late += commitMs;
    return look;
  };
  const engine = { ...world.engine, ledger: { ...ledger, transact } };
  return {
    ...world,
    pay: (attempt: Parameters<typeof world.once>[1] = {}) =>
      world.once({ operation: "createPayout", request }, attempt, engine),
    payouts: async () => (await world.simulator.state()).payouts.length,
    commits: () => commits,
    log: async () => {
      const lines = await ledger.logOf("pay-1");
      return lines.flatMap((line) =>
        line.step === "createPayout" && "what" in line ? [line.what] : [],
      );
    },
  };
};

describe("a ledger that is slow to commit", () => {
  it.each([600, 1_200, 3_000])("of %i ms makes a payout once, by two commits", async (commitMs) => {
    const world = await slowWorld(commitMs);
    expect(await world.pay()).toMatchObject({ is: "done" });
    expect(await world.payouts()).toBe(1);
    expect(world.commits()).toBe(2);
    expect(await world.log()).toEqual(["sending", "succeeded"]);
    expect(await world.row("createPayout")).toMatchObject({ state: "done", sends: 1 });
  });

  it("of 30 s sends nothing in that attempt, says so, and leaves the payout to the next, soon", async () => {
    const world = await slowWorld(30_000);
    const ended = await world.pay();
    expect(ended).toMatchObject({ is: "wait", delayMs: 1_000 });
    expect(await world.payouts()).toBe(0);
    expect(world.commits()).toBe(2);
    expect(await world.log()).toEqual(["sending", "not sent"]);
    const row = await world.row("createPayout");
    expect(row).toMatchObject({ state: "ready", sends: 0, doubt: 0 });
    expect(row?.message).toContain("More than 10 s");
    // The next attempt finds the ledger as fast as ever.
    if (ended.is !== "wait" || ended.version === undefined) throw new Error("not vouched for");
    const testimony = { is: "version", version: ended.version } as const;
    const next = world.once(
      { operation: "createPayout", request: { ...payout, beneficiary_id: await payee(world) } },
      { attempt: 2, testimony },
    );
    expect(await next).toMatchObject({ is: "done" });
    expect(await world.payouts()).toBe(1);
  });

  it("makes attempts rarer, one by one", async () => {
    const world = await slowWorld(30_000);
    const first = await world.pay();
    if (first.is !== "wait" || first.version === undefined) throw new Error("not vouched for");
    const testimony = { is: "version", version: first.version } as const;
    expect(await world.pay({ attempt: 4, testimony })).toMatchObject({ delayMs: 8_000 });
  });

  it("is not asked at all by an attempt that is too late", async () => {
    const world = await slowWorld(0);
    const startedAt = { wall: Date.now() - 20_000, monotonic: performance.now() };
    expect(await world.pay({ startedAt })).toMatchObject({ is: "wait", version: 1 });
    expect(await world.log()).toEqual(["not sent"]);
  });

  it.each([
    ["a pause", (ledger: Ledger) => ledger.pause("all", "", actor)],
    [
      "a stop order",
      async (ledger: Ledger) => {
        const [row] = await ledger.rowsOf("pay-1");
        const on = { account: row?.account ?? "", workflowId: "pay-1", step: null, question: null };
        return ledger.decide({ ...on, kind: "end", value: {}, ...actor });
      },
    ],
    ["a recovery", (ledger: Ledger) => ledger.recover(actor)],
    [
      "an attempt that takes over",
      async (ledger: Ledger) => {
        const row = (await ledger.rowsOf("pay-1")).find(({ step }) => step === "createPayout");
        if (row === undefined) throw new Error("no row");
        const taken = { ...row, state: "unknown", token: null, doubt: 1 } as const;
        return ledger.transact(row, () => ({ row: taken }));
      },
    ],
  ])("obeys %s that is committed meanwhile", async (_what, confirm) => {
    const world = await slowWorld(1_200, confirm);
    await world.pay();
    expect(await world.payouts()).toBe(0);
    expect(await world.log()).not.toContain("succeeded");
  });
});

const payee = async ({ row }: Awaited<ReturnType<typeof slowWorld>>): Promise<string> =>
  (await row("b"))?.madeId ?? "";

describe("the time within which a send leaves", () => {
  /** The bound of the ledger's model, as a row with a lost send has it. */
  const boundMs = async ({ engine, ledger, name }: Awaited<ReturnType<typeof makeWorld>>) => {
    const policy = engine.operations.get("createPayout")?.policy({});
    if (policy === undefined) throw new Error("no such operation");
    const request = {
      hash: "A",
      terms: "A",
      amount: null,
      currency: null,
      payee: null,
      reference: null,
    };
    const call: Call = {
      name: name("bound"),
      operation: "createPayout",
      request: { ...request, paymentDate: null, facts: {} },
      ownerId: "pay-1",
      rootId: "pay-1",
      runId: "run-1",
      testimony: undefined,
      mode: "send",
      mayAmend: false,
    };
    const look = await ledger.look(call.name);
    const { row } = advance(look, { who: "w", is: "called", call }, policy);
    return (row?.until ?? 0) - look.now - policy.requestTimeoutMs;
  };

  it("is the same for the guard as for the ledger, which believes no list before it is over", async () => {
    const world = await slowWorld(0);
    const latestMs = (await boundMs(world)) - PERMITTED_FOR_MS;
    expect(latestMs).toBeGreaterThan(5_000);
    const ago = (ms: number) => ({ wall: Date.now() - ms, monotonic: performance.now() - ms });
    expect(await world.pay({ startedAt: ago(latestMs + 10) })).toMatchObject({ is: "wait" });
    expect(await world.payouts()).toBe(0);
  });
});
