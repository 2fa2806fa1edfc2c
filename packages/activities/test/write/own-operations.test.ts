import * as z from "zod";
import { describe, expect, it } from "vitest";
import { defineOperation, type OwnOperations } from "../../src/write/own-operations.ts";
import { undoWrite } from "../../src/write/perform.ts";
import { attemptOf, makeWorld } from "../support/writes.ts";

interface Reserve {
  readonly orderId: string;
}
const task = { operation: "reserveGoods", request: { orderId: "17" } };
const call = {
  operation: "reserveGoods",
  step: "reserveGoods",
  rootId: "pay-1",
  runId: "run-1",
  isContinued: false,
  call: 1,
  isFirst: true,
};
/** An operation's undo, and the ids that it was given. */
const undoing = () => {
  const undone: Array<string> = [];
  const undo = async (id: string): Promise<void> => void undone.push(id);
  return { undone, undo };
};
const worldWith = (reserveGoods: OwnOperations[string]) =>
  makeWorld({ operations: { reserveGoods } });

describe("an operation of one's own", () => {
  it("is sent once, with a key of 36 characters", async () => {
    const keys: Array<string> = [];
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async ({ orderId }, { key }) => {
          keys.push(key);
          return { id: `r-${orderId}` };
        },
      }),
    );
    expect(await world.once(task)).toMatchObject({ is: "done", made: { id: "r-17" } });
    expect(await world.once(task, { attempt: 2, testimony: undefined })).toMatchObject({
      is: "done",
    });
    expect(keys).toEqual([expect.stringMatching(/^.{36}$/)]);
  });

  it("fails where it says that it was refused, and waits where it says that nothing was carried out", async () => {
    let says: "refused" | "notCarriedOut" = "notCarriedOut";
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async (_input, context) => {
          throw context[says]("no goods");
        },
      }),
    );
    const waits = await world.once(task);
    expect(waits).toMatchObject({ is: "wait", version: 2 });
    if (waits.is !== "wait") throw new Error("did not wait");
    says = "refused";
    const testimony = { is: "version", version: waits.version ?? 0 } as const;
    expect(await world.once(task, { attempt: 2, testimony })).toMatchObject({
      is: "fail",
      type: "Refused",
    });
  });

  it("asks a person where its answer is lost and nothing finds it", async () => {
    const world = await worldWith(
      defineOperation<Reserve>({ repeat: "none", send: () => Promise.reject(new Error("cut")) }),
    );
    const ended = await world.until(task);
    expect(ended).toMatchObject({ is: "waiting", needs: "answer" });
  });

  it("is found by its key where its answer is lost", async () => {
    const made = new Map<string, string>();
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async ({ orderId }, { key }) => {
          made.set(key, `r-${orderId}`);
          throw new Error("cut");
        },
        find: async (_input, { keys }) => {
          const id = keys.flatMap((key) => made.get(key) ?? [])[0];
          return id === undefined ? undefined : { id };
        },
      }),
    );
    expect(await world.once(task)).toMatchObject({ is: "done", by: "key", made: { id: "r-17" } });
    expect(made.size).toBe(1);
  });

  it.each([[], {}, null, { id: 7 }, { id: " " }])(
    "is not found by a find that returns %j: it is looked up again",
    async (found) => {
      const world = await worldWith(
        defineOperation<Reserve>({
          repeat: "none",
          send: () => Promise.reject(new Error("cut")),
          find: async () => found as never,
        }),
      );
      const message = "find must return an object with an id, or undefined";
      const why = expect.stringContaining(message) as string;
      expect(await world.once(task)).toMatchObject({ is: "wait", why });
    },
  );

  it.each([Number.NaN, "5 s", -1, undefined])(
    "waits as after other failures if it asks to wait for %j",
    async (retryAfterMs) => {
      const world = await worldWith({
        repeat: "none",
        send: async (_input, { notCarriedOut }) => {
          throw notCarriedOut("busy", { retryAfterMs: retryAfterMs as number });
        },
      });
      expect(await world.once(task)).toMatchObject({ is: "wait", delayMs: 1_000 });
    },
  );

  it("is sent again within a day, however long it asks to wait", async () => {
    const world = await worldWith({
      repeat: "none",
      send: async (_input, { notCarriedOut }) => {
        throw notCarriedOut("busy", { retryAfterMs: Number.POSITIVE_INFINITY });
      },
    });
    expect(await world.once(task)).toMatchObject({ is: "wait", delayMs: 86_400_000 });
  });

  // Temporal takes no failure of megabytes, nor half of a character: its worker would end.
  it("says why in 500 characters, also by an error, and without half of a character", async () => {
    const reason = `${"x".repeat(499)}\u{1F600} and more`;
    const world = await worldWith({
      repeat: "none",
      send: async (_input, { refused }) => {
        throw refused(new Error(reason) as never);
      },
    });
    const message = `reserveGoods was refused: ${"x".repeat(499)}\uFFFD`;
    expect(await world.once(task)).toMatchObject({ is: "fail", message });
  });

  it("is checked by its schema before it is sent", async () => {
    let sends = 0;
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        schema: z.object({ orderId: z.string().min(3) }),
        send: async () => ({ id: String((sends += 1)) }),
      }),
    );
    expect(await world.once(task)).toMatchObject({ is: "fail", type: "InvalidRequest" });
    expect(sends).toBe(0);
  });

  it("is undone once, after its outcome is known", async () => {
    const { undo: remove, undone } = undoing();
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async ({ orderId }) => ({ id: `r-${orderId}` }),
        undo: remove,
      }),
    );
    await world.once(task);
    const undo = () => undoWrite(world.engine, attemptOf(), call);
    expect(await undo()).toMatchObject({ is: "done", made: { id: "r-17" } });
    expect(await world.row("reserveGoods")).toMatchObject({ state: "undone" });
    expect(await undo()).toEqual({ is: "done", made: {} });
    expect(undone).toEqual(["r-17"]);
  });

  it("of another account is not undone, and says so", async () => {
    const { undo: remove, undone } = undoing();
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async ({ orderId }) => ({ id: `r-${orderId}` }),
        undo: remove,
      }),
    );
    await world.once(task);
    const elsewhere = { ...world.engine, account: "another" };
    await expect(undoWrite(elsewhere, attemptOf(), call)).rejects.toMatchObject({
      type: "CannotBeUndone",
      message:
        'The step reserveGoods was sent for another account. Name it: undo("reserveGoods", { account: "…" }).',
    });
    // With a key, too, of which the other account could have a write of its own.
    await world.once({ ...task, key: "order-17" });
    const keyed = undoWrite(elsewhere, attemptOf(), { ...call, key: "order-17" });
    await expect(keyed).rejects.toMatchObject({ type: "CannotBeUndone" });
    expect(undone).toEqual([]);
  });

  it("is undone only once its outcome is known", async () => {
    const { undo: remove, undone } = undoing();
    let isListed = false;
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        listLagMs: 60_000,
        send: async () => {
          throw new Error("connection reset");
        },
        find: async () => (isListed ? { id: "r-1" } : undefined),
        undo: remove,
      }),
    );
    expect(await world.once(task)).toMatchObject({ is: "wait" });
    const undo = () => undoWrite(world.engine, attemptOf({ testimony: undefined }), call);
    await expect(undo()).rejects.toThrow("It is not found yet.");
    isListed = true;
    expect(await undo()).toMatchObject({ is: "done", made: { id: "r-1" } });
    expect(undone).toEqual(["r-1"]);
  });

  it("is undone where the ledger has forgotten it: the run names what the step has returned", async () => {
    const { undo: remove, undone } = undoing();
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async ({ orderId }) => ({ id: `r-${orderId}` }),
        undo: remove,
      }),
    );
    const made = { id: "r-17" };
    const undo = () => undoWrite(world.engine, attemptOf(), { ...call, made });
    expect(await undo()).toMatchObject({ is: "done", made: { id: "r-17" } });
    await undo();
    expect(undone).toEqual(["r-17"]);
  });

  it("that was made anew by a later run is undone again", async () => {
    const { undo: remove, undone } = undoing();
    let sends = 0;
    const world = await worldWith(
      defineOperation<Reserve>({
        repeat: "none",
        send: async () => ({ id: `r-${++sends}` }),
        undo: remove,
      }),
    );
    await world.once(task);
    await undoWrite(world.engine, attemptOf(), call);
    const { version = 0 } = (await world.row("reserveGoods")) ?? {};
    const later = { runId: "run-2", testimony: { is: "version", version } } as const;
    expect(await world.once(task, later)).toMatchObject({ is: "done", made: { id: "r-2" } });
    const again = { ...call, runId: "run-2" };
    expect(await undoWrite(world.engine, attemptOf({ runId: "run-2" }), again)).toMatchObject({
      is: "done",
    });
    expect(undone).toEqual(["r-1", "r-2"]);
  });

  it("has nothing to be undone where it was never sent", async () => {
    const world = await worldWith(
      defineOperation<Reserve>({ repeat: "none", send: async () => ({ id: "r" }) }),
    );
    expect(await undoWrite(world.engine, attemptOf(), call)).toEqual({ is: "done", made: {} });
  });
});
