import { describe, expect, it } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { makeWorld } from "../support/writes.ts";
import { defineOperation } from "../../src/write/own-operations.ts";

const { unique_request_id: _, ...payout } = withKey;
type World = Awaited<ReturnType<typeof makeWorld>>;
const UNVOUCHED = { attempt: 2, testimony: undefined };

/** A payout to a beneficiary that the service knows. */
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

/** The ids of what the service has paid. */
const paid = async ({ simulator }: World): Promise<ReadonlyArray<string>> =>
  (await simulator.state()).payouts.map(({ payout_id }) => payout_id);

/** Makes the row ask a person, as it does where the list is no proof. */
const asks = async (world: World, step: string) =>
  world.ledger.transact(world.name(step), (look) =>
    look.row === undefined
      ? {}
      : {
          row: {
            ...look.row,
            state: "asking",
            token: null,
            closedBy: null,
            doubt: 1,
            question: {
              id: "q-1",
              kind: "outcome",
              reason: "unclear",
              candidates: [],
              account: null,
              since: look.now,
            },
          },
        },
  );

const answers = async (
  world: World,
  kind: "found" | "resend" | "end",
  value: Record<string, string> = {},
  step = "createPayout",
) => {
  const row = await world.row(step);
  return world.ledger.decide({
    account: world.account,
    workflowId: "pay-1",
    step: kind === "end" ? null : step,
    kind,
    question: kind === "end" ? null : (row?.question?.id ?? ""),
    by: "ada",
    how: "terminal",
    reason: null,
    value,
  });
};

/** A payout that the service has not got, and that asks a person. */
const asking = async (given?: Parameters<typeof makeWorld>[0]) => {
  const world = await makeWorld(given);
  const task = await payable(world);
  await world.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
  expect(await world.once(task)).toMatchObject({ is: "wait" });
  await asks(world, "createPayout");
  return { world, task };
};

describe("an id that a person names", () => {
  it("is taken where the service shows what was sent", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    await world.once(task);
    await asks(world, "createPayout");
    const [id = ""] = await paid(world);
    await answers(world, "found", { id: ` ${id} ` });
    const done = await world.once(task, UNVOUCHED);
    expect(done).toMatchObject({ is: "done", by: "person", made: { payout_id: id } });
    expect(done).not.toMatchObject({ made: { not_confirmed: true } });
    expect(await paid(world)).toEqual([id]);
  });

  it("is refused where it is of another amount", async () => {
    const { task, world } = await asking();
    const other = { ...task, request: { ...task.request, amount: "9.00" }, rootId: "pay-2" };
    const made = await world.once(other);
    // The ledger has lost its owner, so that only the amount speaks against it.
    const { account, step } = world.name("createPayout", "pay-2");
    await world.ledger.transact({ account, workflowId: "pay-2", step }, ({ row }) =>
      row === undefined ? {} : { row: { ...row, state: "ready", madeId: null } },
    );
    if (made.is !== "done") throw new Error("not made");
    await answers(world, "found", { id: String(made.made["payout_id"]) });
    const asked = await world.once(task, UNVOUCHED);
    expect(asked).toMatchObject({ is: "waiting", needs: "answer" });
    expect(asked).toMatchObject({ why: expect.stringContaining("9.00") });
    expect(await world.row("createPayout")).toMatchObject({ state: "asking", madeId: null });
  });

  it("is refused where another write has made it", async () => {
    const { task, world } = await asking();
    const made = await world.once({ ...task, rootId: "pay-2" });
    if (made.is !== "done") throw new Error("not made");
    await answers(world, "found", { id: String(made.made["payout_id"]) });
    expect(await world.once(task, UNVOUCHED)).toMatchObject({
      is: "waiting",
      why: expect.stringContaining("pay-2 (createPayout) has made"),
    });
  });

  it("is refused where it has the key of another write of unknown outcome, which still finds it", async () => {
    const { task, world } = await asking();
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    expect(await world.once(task, { workflowId: "pay-2" })).toMatchObject({ is: "wait" });
    const [id = ""] = await paid(world);
    await answers(world, "found", { id });
    expect(await world.once(task, UNVOUCHED)).toMatchObject({
      is: "waiting",
      why: expect.stringContaining("has the key of pay-2 (createPayout)"),
    });
    const other = await world.once(task, { workflowId: "pay-2", ...UNVOUCHED });
    expect(other).toMatchObject({ is: "done", made: { payout_id: id } });
  });

  it("asks a person where another write owns what has the key of this step", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    await world.once(task);
    const [id = ""] = await paid(world);
    const owner = world.name("createPayout", "pay-2");
    const mine = await world.row("createPayout");
    await world.ledger.transact(owner, () => ({
      row: { ...mine!, ...owner, state: "done", version: 0, madeId: id, doubt: 0, token: null },
    }));
    expect(await world.once(task, UNVOUCHED)).toMatchObject({
      is: "waiting",
      needs: "answer",
      why: expect.stringContaining("was made by pay-2"),
    });
  });

  it("is refused where the service does not know it, and the question stays open under a new id", async () => {
    const { task, world } = await asking();
    await answers(world, "found", { id: "no-such-payout" });
    const asked = await world.once(task, UNVOUCHED);
    expect(asked).toMatchObject({ is: "waiting", needs: "answer" });
    expect((await world.row("createPayout"))?.question?.id).not.toBe("q-1");
    expect(await world.once(task, UNVOUCHED)).toEqual(asked);
  });

  it("is kept as not confirmed where nothing can read it", async () => {
    const world = await makeWorld({
      operations: {
        reserveGoods: defineOperation<{ orderId: string }>({
          repeat: "none",
          send: () => Promise.reject(new Error("cut")),
        }),
      },
    });
    const task = { operation: "reserveGoods", request: { orderId: "17" } };
    expect(await world.until(task)).toMatchObject({ is: "waiting" });
    await answers(world, "found", { id: "r-17" }, "reserveGoods");
    expect(await world.once(task, UNVOUCHED)).toMatchObject({
      is: "done",
      by: "person",
      made: { id: "r-17", not_confirmed: true },
    });
    expect(await world.ledger.logOf("pay-1")).toContainEqual(
      expect.objectContaining({
        details: { id: "r-17", by: "person", not_confirmed: true },
      }),
    );
  });
});

describe("what a person wants to be sent again", () => {
  it("is sent once where one more reading shows nothing", async () => {
    const { task, world } = await asking();
    await answers(world, "resend");
    expect(await world.until(task, UNVOUCHED)).toMatchObject({ is: "done" });
    expect(await paid(world)).toHaveLength(1);
  });

  it("is approved with the payee's account as it is now", async () => {
    const { task, world } = await asking();
    await answers(world, "resend");
    const asked = await world.until({ ...task, approveAbove: "100" }, UNVOUCHED);
    expect(asked).toMatchObject({
      is: "waiting",
      needs: "approval",
      why: expect.stringContaining("account ending in"),
    });
    expect((await world.row("createPayout"))?.question?.account).not.toBeNull();
  });

  it("is not sent where one more reading finds it", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    await world.once(task);
    await asks(world, "createPayout");
    await answers(world, "resend");
    expect(await world.once(task, UNVOUCHED)).toMatchObject({ is: "done", by: "key" });
    expect(await world.row("createPayout")).toMatchObject({ sends: 1 });
    expect(await paid(world)).toHaveLength(1);
  });

  it("waits seconds, not minutes, for another write that may have made what is listed", async () => {
    const { task, world } = await asking({
      settings: { assumptions: { listLagSeconds: 180, clockSkewSeconds: 0 } },
      simulator: { temperament: { payoutKeys: "dropped" } },
    });
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    expect(await world.once(task, { workflowId: "pay-2" })).toMatchObject({ is: "wait" });
    await answers(world, "resend");
    const waiting = await world.once(task, { attempt: 1, testimony: undefined });
    expect(waiting).toMatchObject({
      is: "wait",
      why: "The possible match may belong to another write, which is being reconciled.",
    });
    expect(waiting.is === "wait" && waiting.delayMs).toBeLessThanOrEqual(2_000);
  });
});

describe("what a person ends while its outcome is unknown", () => {
  it("is never sent, once it is proved absent", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    await answers(world, "end");
    await world.ledger.transact(world.name("createPayout"), ({ row }) =>
      row === undefined ? {} : { row: { ...row, until: 0 } },
    );
    expect(await world.once(task, UNVOUCHED)).toMatchObject({ is: "fail", type: "Ended" });
    expect(await paid(world)).toEqual([]);
    expect(await world.row("createPayout")).toMatchObject({ state: "ended", doubt: 0, sends: 1 });
  });

  it("is reported as carried out where it was", async () => {
    const world = await makeWorld();
    const task = await payable(world);
    await world.simulator.addFault({ kind: "dropped", operation: "createPayout" });
    await world.simulator.addFault({ kind: "html-502", operation: "listPayouts" });
    await world.once(task);
    await answers(world, "end");
    expect(await world.once(task, UNVOUCHED)).toMatchObject({ is: "done", by: "key" });
  });
});
