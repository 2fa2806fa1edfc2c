import { openLedger } from "@durable-payments/ledger";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Simulator, startSimulator } from "@durable-payments/simulator";
import { makePaymentsActivities } from "../src/index.ts";
import { failureOf, run, runtimeOver } from "./support/attempts.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

/** A right input of a write. */
const write = {
  step: "createPayout",
  isNamed: false,
  request: {},
  rootId: "run-1",
  runId: "1",
  isContinued: false,
  call: 1,
  isFirst: true,
};
const { isNamed: _, request: _request, ...undo } = { ...write, operation: "createPayout" };

it.each<[string, unknown, RegExp]>([
  ["createPayout", null, /must be a/],
  ["createPayout", "all of it", /./],
  ["createPayout", { ...write, request: [] }, /request/],
  ["createPayout", { ...write, step: "" }, /step/],
  ["createPayout", { ...write, step: { $ne: 1 } }, /step/],
  ["createPayout", { ...write, rootId: 5 }, /rootId/],
  ["createPayout", { ...write, isFirst: "yes" }, /isFirst/],
  ["createPayout", { ...write, call: -1 }, /call/],
  ["createPayout", { ...write, version: "7" }, /version/],
  ["createPayout", { ...write, key: 'ma"y' }, /key/],
  ["createPayout", { ...write, mode: "settle" }, /mode/],
  ["createPayout", { ...write, approveAbove: "none" }, /approveAbove/],
  ["createPayout", { ...write, approveAbove: null }, /approveAbove/],
  ["createPayout", { ...write, believed: "nothing" }, /believed/],
  ["createPayout", { ...write, planned: [{ operation: "createPayout" }] }, /planned/],
  ["createBeneficiary", { ...write, whenLost: "never" }, /whenLost/],
  ["createBeneficiary", { ...write, reuse: true }, /reuse/],
  ["reserveGoods", { ...write, request: "goods" }, /request/],
  ["undo", { ...undo, operation: undefined }, /operation/],
  ["undo", { ...undo, made: "p-1" }, /made/],
  ["awaitPayout", {}, /payout_id/],
  ["awaitPayout", { payout_id: "p-1", mode: "close" }, /mode/],
  ["awaitReturn", { payout_id: 5 }, /payout_id/],
  ["awaitVerification", { card_holder_id: 5 }, /card_holder_id/],
  ["awaitFunds", { currency: "USD", amount: "much" }, /amount/],
  ["startRows", { batch: "b", startedBy: "ada", window: 5, rows: {} }, /rows/],
  [
    "startRows",
    {
      batch: "b",
      startedBy: "ada",
      window: 5,
      rows: [{ number: 1, workflowId: "payout/1", input: { payout: {} } }],
    },
    /beneficiary/,
  ],
  ["track", { account: 5 }, /account/],
  ["track", { account: "a", known: { account: "a" } }, /known/],
  ["notify", { failing: "since yesterday" }, /failing: must be an object/],
])("%s of %j fails for good, says why, and nothing is sent", async (type, input, why) => {
  const ledger = await openLedger("memory");
  const operations = {
    reserveGoods: { repeat: "keyed", send: async () => ({ id: "r" }) },
  } as const;
  const runtime = runtimeOver(simulator);
  const activities = makePaymentsActivities(runtime, { ledger, taskQueue: "q", operations });
  const activity = Object.entries(activities).find(([name]) => name === type)?.[1];
  if (activity === undefined) throw new Error(`There is no ${type}`);
  const failure = await failureOf(run({}, activity as (given: unknown) => Promise<unknown>, input));
  expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  expect(failure.message).toMatch(/^Nothing was sent\. /);
  expect(failure.message).toMatch(why);
  expect((await simulator.state()).payouts).toEqual([]);
  expect(await ledger.rowsOf("run-1")).toEqual([]);
  await ledger.close();
});

it("a read that the contract refuses fails for good, too", async () => {
  const ledger = await openLedger("memory");
  const activities = makePaymentsActivities(runtimeOver(simulator), { ledger, taskQueue: "q" });
  const failure = await failureOf(run({}, activities.retrievePayout, null as never));
  expect(failure).toMatchObject({ type: "InvalidRequest", nonRetryable: true });
  await ledger.close();
});

it("no operation of a user's own takes the name of another activity: its function would pay nothing", async () => {
  const ledger = await openLedger("memory");
  const options = { ledger, taskQueue: "q" };
  const names = Object.keys(makePaymentsActivities(runtimeOver(simulator), options));
  const own = { repeat: "keyed", send: async () => ({ id: "r" }) } as const;
  const made = names.map((name) => () => {
    const operations = { [name]: own, reserveGoods: own };
    return makePaymentsActivities(runtimeOver(simulator), { ...options, operations });
  });
  for (const [at, name] of names.entries())
    expect(made[at]).toThrow(`of these operations: ${name}. Rename`);
  await ledger.close();
});
