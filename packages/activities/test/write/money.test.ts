import { defaultAssumptions } from "@durable-payments/client/effect";
import { describe, expect, it } from "vitest";
import { defineOperation } from "../../src/write/own-operations.ts";
import { settleRow } from "../../src/write/perform.ts";
import { beneficiary, cardholder, payout as withKey } from "../support/bodies.ts";
import { attemptOf, makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...payout } = withKey;
type World = Awaited<ReturnType<typeof makeWorld>>;
const UNVOUCHED = { attempt: 2, testimony: undefined };
const ACTOR = { by: "ada", how: "terminal", reason: "restored" } as const;

const payable = async (world: World) => {
  const made = await world.once({
    operation: "createBeneficiary",
    request: beneficiary,
    step: "b",
  });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  const request = { ...payout, beneficiary_id: String(made.made["beneficiary_id"]) };
  return { operation: "createPayout", request };
};

const payoutsOf = async ({ simulator }: World) => (await simulator.state()).payouts.length;

describe("a success that comes late", () => {
  it("beside that of a later request fails the step and is logged: none of the two is lost", async () => {
    const late = Promise.withResolvers<undefined>();
    let sends = 0;
    const world = await makeWorld({
      operations: {
        reserveGoods: defineOperation<{ orderId: string }>({
          repeat: "none",
          listLagMs: 0,
          send: async () => {
            sends += 1;
            if (sends === 2) return { id: "second" };
            await late.promise;
            return { id: "first" };
          },
          find: async () => undefined,
        }),
      },
    });
    const task = { operation: "reserveGoods", request: { orderId: "17" } };
    const first = world.once(task);
    await expect.poll(async () => (await world.row("reserveGoods"))?.state).toBe("sending");
    await world.once(task, UNVOUCHED);
    // As if the longest time of a request were over: it is not found, and is sent again.
    await world.ledger.transact(world.name("reserveGoods"), ({ row }) =>
      row === undefined ? {} : { row: { ...row, until: 0 } },
    );
    expect(await world.once(task, UNVOUCHED)).toMatchObject({ made: { id: "second" } });
    late.resolve(undefined);
    expect(await first).toMatchObject({ is: "fail", type: "MadeTwice" });
    expect(JSON.stringify(await world.ledger.logOf("pay-1"))).toMatch(
      /made twice.*first|first.*made twice/,
    );
    expect(await world.row("reserveGoods")).toMatchObject({ state: "done", madeId: "second" });
  });
});

describe("an answer that names what another write has made", () => {
  it("is a contradiction, which a person decides", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const made = await world.once({ ...task, rootId: "pay-2" });
    if (made.is !== "done") throw new Error("not made");
    const { engine } = world;
    const createPayout = engine.operations.get("createPayout");
    if (createPayout === undefined) throw new Error("no such operation");
    const id = String(made.made["payout_id"]);
    const lying = {
      ...engine,
      operations: new Map([
        ...engine.operations,
        [
          "createPayout",
          {
            ...createPayout,
            send: async ({ guard }: Parameters<typeof createPayout.send>[0]) => {
              await guard.permit();
              return { is: "made", id, result: { payout_id: id } } as const;
            },
          },
        ] as const,
      ]),
    };
    expect(await world.once(task, {}, lying)).toMatchObject({ is: "waiting", needs: "answer" });
    expect(await world.row("createPayout")).toMatchObject({ state: "asking", madeId: null });
  });
});

describe("an idempotent write that was carried out already", () => {
  it("is done, and asks nobody", async () => {
    const world = await makeWorld();
    const task = { operation: "createBalance", request: { currency: "USD", name: "cards" } };
    await world.once(task);
    await world.simulator.addFault({ kind: "dropped", operation: "createBalance" });
    const again = { ...task, step: "again" };
    expect(await world.until(again)).toMatchObject({ is: "done", made: { currency: "USD" } });
  });
});

describe("a removal that is refused after its answer was lost", () => {
  const removing = async (listLagSeconds: number) => {
    const world = await makeWorld({
      settings: {
        assumptions: {
          listLagSeconds,
          clockSkewSeconds: 0,
          alreadySoRefusals: {
            ...defaultAssumptions.alreadySoRefusals,
            removeCardholder: ["other words than those of the service"],
          },
        },
      },
    });
    const made = await world.once({ operation: "createCardholder", request: cardholder });
    if (made.is !== "done") throw new Error(JSON.stringify(made));
    const card_holder_id = String(made.made["card_holder_id"]);
    return { task: { operation: "removeCardholder", request: { card_holder_id } }, world };
  };

  it("is done where the service lists the cardholder no more", async () => {
    const { task, world } = await removing(0);
    await world.simulator.addFault({ kind: "dropped", operation: "removeCardholder" });
    expect(await world.until(task)).toMatchObject({ is: "done" });
  });

  it("waits while a cardholder that was just made may not be listed yet", async () => {
    const { task, world } = await removing(180);
    await world.simulator.addFault({ kind: "dropped", operation: "removeCardholder" });
    expect(await world.until(task, {}, 3)).toMatchObject({ is: "wait" });
  });

  it("has failed where the cardholder is still listed", async () => {
    const { task, world } = await removing(0);
    await world.simulator.addFault({ kind: "dropped-before", operation: "removeCardholder" });
    await world.simulator.addFault({ kind: "refusal-in-200", operation: "removeCardholder" });
    expect(await world.until(task)).toMatchObject({ is: "fail", type: "Refused" });
  });

  it("has failed where it was never sent before", async () => {
    const { task, world } = await removing(0);
    const request = { card_holder_id: "unknown" };
    expect(await world.once({ ...task, request })).toMatchObject({ is: "fail", type: "Refused" });
  });
});

describe("a run that is being cancelled", () => {
  it("sends nothing new", async () => {
    const world = await makeWorld();
    const task = { ...(await payable(world)), mode: "close" as const };
    expect(await world.once(task)).toMatchObject({ is: "fail", type: "Cancelled" });
    expect(await payoutsOf(world)).toBe(0);
  });

  it("finds out what became of a lost answer", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    const closing = { ...task, mode: "close" as const };
    expect(await world.once(closing, UNVOUCHED)).toMatchObject({ is: "done", by: "key" });
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("a ledger that was restored", () => {
  it("finds what was paid after the copy was made, and does not pay again", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.once(task);
    // The copy is older than the payment: it has the row with nothing sent.
    await world.ledger.transact(world.name("createPayout"), ({ row }) =>
      row === undefined
        ? {}
        : { row: { ...row, state: "ready", madeId: null, result: null, knownBy: null, sends: 0 } },
    );
    await world.ledger.recover(ACTOR);
    const { version = 0 } = (await world.row("createPayout")) ?? {};
    const testimony = { is: "version", version } as const;
    for (const attempt of [1, 2, 3]) {
      const ended = await world.once(task, { attempt, testimony });
      expect(ended.is).not.toBe("fail");
    }
    expect(await payoutsOf(world)).toBe(1);
  });

  it("sends nothing by a row of before on the word of its version", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "rate-limited", operation: "createPayout" });
    const waits = await world.once(task);
    if (waits.is !== "wait") throw new Error("did not wait");
    await world.ledger.recover(ACTOR);
    const testimony = { is: "version", version: waits.version ?? 0 } as const;
    const ended = await world.once(task, { attempt: 2, testimony });
    expect(["wait", "waiting"]).toContain(ended.is);
    expect(await payoutsOf(world)).toBe(0);
  });
});

describe("a restored ledger, and a list without keys", () => {
  const looked = async (by: "this account" | "nobody") => {
    let now = Date.now();
    const world = await makeWorld({
      clock: () => now,
      simulator: { temperament: { payoutKeys: "dropped" } },
    });
    const task = await payable(world);
    // What the step sent under another request before the copy was made is forgotten.
    const engine = by === "nobody" ? { ...world.engine, account: "forgotten" } : world.engine;
    const payee = { operation: "createBeneficiary", request: beneficiary, step: "c" };
    const other = await world.once({ ...payee, reuse: false });
    if (other.is !== "done") throw new Error(JSON.stringify(other));
    const { beneficiary_id } = other.made;
    const request = { ...task.request, amount: "11.00", beneficiary_id };
    await world.once({ ...task, request, rootId: "pay-0" }, {}, engine);
    await world.ledger.recover(ACTOR);
    await world.once(task, UNVOUCHED);
    now += 60_000;
    return world.once(task, UNVOUCHED);
  };

  it("ask a person where what is listed may be another request of the step", async () => {
    const why: unknown = expect.stringMatching(/may be another request of this step/);
    expect(await looked("nobody")).toMatchObject({ is: "waiting", needs: "answer", why });
  });

  it("ask nobody where everything listed is known", async () => {
    expect(await looked("this account")).toMatchObject({ is: "done" });
  });
});

describe("being turned away", () => {
  it("is waited for as long as the service says, and longer only where it is repeated", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    const fault = { kind: "rate-limited", operation: "createPayout", seconds: 3 } as const;
    const delays: Array<number> = [];
    let version = 0;
    for (const attempt of [9, 10, 11, 12]) {
      await world.simulator.addFault(fault);
      const testimony =
        version === 0 ? ({ is: "none" } as const) : ({ is: "version", version } as const);
      const ended = await world.once(task, { attempt, testimony });
      if (ended.is !== "wait") throw new Error(JSON.stringify(ended));
      version = ended.version ?? 0;
      delays.push(Math.round(ended.delayMs / 1_000));
    }
    expect(delays).toEqual([3, 3, 4, 8]);
  });
});

describe("another account", () => {
  it("pays nothing of a run that another account has begun", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.once(task);
    const other = { ...world.engine, account: "another" };
    expect(await world.once(task, {}, other)).not.toMatchObject({ is: "done" });
    expect(await payoutsOf(world)).toBe(1);
  });
});

describe("the janitor", () => {
  it.each([1, 2])(
    "settles a send whose worker was lost, and sends nothing (%i at once)",
    async (janitors) => {
      const world = await makeWorld();
      const task = await payable(world);
      await world.once(task);
      const request = world.engine.operations.get("createPayout")?.describe(task.request);
      await world.ledger.transact(world.name("createPayout"), ({ epoch, row }) =>
        row === undefined || request === undefined
          ? {}
          : {
              row: {
                ...row,
                request,
                state: "sending",
                token: `${epoch}:lost`,
                madeId: null,
                result: null,
                knownBy: null,
              },
            },
      );
      const name = world.name("createPayout");
      const settle = () => settleRow(world.engine, attemptOf({ testimony: undefined }), name);
      await Promise.all(Array.from({ length: janitors }, settle));
      expect(await world.row("createPayout")).toMatchObject({
        state: "done",
        knownBy: "key",
        sends: 1,
      });
      expect(await payoutsOf(world)).toBe(1);
    },
  );
});
