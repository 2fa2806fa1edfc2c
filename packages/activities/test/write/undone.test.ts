import { expect, it } from "vitest";
import { defineOperation } from "../../src/write/own-operations.ts";
import { undoWrite } from "../../src/write/perform.ts";
import { card, cardholder } from "../support/bodies.ts";
import { attemptOf, makeWorld } from "../support/writes.ts";

const { unique_request_id: _, ...order } = card;

const SECOND = { runId: "run-2", testimony: undefined } as const;

const cards = async (given: Parameters<typeof makeWorld>[0] = {}) => {
  const world = await makeWorld({ simulator: { verifyAfter: 0 }, ...given });
  const person = await world.once({ operation: "createCardholder", request: cardholder });
  if (person.is !== "done") throw new Error(JSON.stringify(person));
  const [balance] = (await world.simulator.state()).balances;
  const { card_holder_id } = person.made;
  const issue = {
    operation: "createCard",
    request: { ...order, card_holder_id, balance_id: balance?.balance_id },
  };
  const made = async (attempt: Parameters<typeof world.until>[1] = {}) => {
    const issued = await world.until(issue, attempt);
    if (issued.is !== "done") throw new Error(JSON.stringify(issued));
    return String(issued.made["card_id"]);
  };
  const undo = (step: string, operation: string) =>
    undoWrite(world.engine, attemptOf(), {
      operation,
      step,
      rootId: "pay-1",
      runId: "run-1",
      isContinued: false,
      call: 1,
      isFirst: true,
    });
  const named = (card_id: string) => ({
    operation: "updateCard",
    step: "confirmCard",
    request: { card_id, card_name: "Travel" },
  });
  return { ...world, issue, made, named, undo };
};

it("what was done to a card is undone with it: a later run does it to its own card", async () => {
  const world = await cards();
  const first = await world.made();
  await world.until(world.named(first));
  await world.until({
    operation: "freezeCard",
    key: "freeze/17",
    request: { card_id: first },
  });
  await world.undo("createCard", "createCard");
  const { version = 0 } = (await world.row("createCard")) ?? {};
  const second = await world.made({ ...SECOND, testimony: { is: "version", version } });
  expect(second).not.toBe(first);
  for (const task of [
    world.named(second),
    { operation: "freezeCard", key: "freeze/17", request: { card_id: second } },
  ])
    expect(await world.until(task, SECOND)).toMatchObject({
      is: "done",
      made: { card_id: second },
    });
  const { cards: issued } = await world.simulator.state();
  expect(issued.map(({ card_name, card_status }) => [card_name, card_status])).toEqual([
    ["Travel", "cancelled"],
    ["Travel", "frozen"],
  ]);
});

it("a card that was undone stays undone, also if its undo is asked for again", async () => {
  const world = await cards();
  const first = await world.made();
  await world.undo("createCard", "createCard");
  await world.undo("createCard", "createCard");
  expect(await world.row("undo createCard")).toMatchObject({ state: "done", madeId: first });
  expect((await world.simulator.state()).requests["cancelCard"]).toBe(1);
});

it("what was done to another card, and what moved money, is not undone with a card", async () => {
  const pay = defineOperation<{ card_id: string }>({
    repeat: "keyed",
    send: async ({ card_id }) => ({ id: card_id }),
  });
  const world = await cards({ operations: { pay } });
  const first = await world.made();
  const other = await world.until({ ...world.issue, step: "second", isNamed: true });
  if (other.is !== "done") throw new Error(JSON.stringify(other));
  await world.until(world.named(String(other.made["card_id"])));
  await world.until({ operation: "pay", request: { card_id: first } });
  await world.undo("createCard", "createCard");
  expect(await world.row("confirmCard")).toMatchObject({ state: "done" });
  expect(await world.row("second")).toMatchObject({ state: "done" });
  expect(await world.row("pay")).toMatchObject({ state: "done", madeId: first });
});
