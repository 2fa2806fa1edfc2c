import { expect, it } from "vitest";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { makeWorld } from "../support/writes.ts";

/*
 * The class: a list shows our payout in another way, and another open write was sent exactly so. If the row counts as that
 * write's, ours is made twice, and the other one never.
 */

const { unique_request_id: _, ...payout } = withKey;

/** Returns the JSON of a list with amounts after a fee of 1.00, which it does not show. */
const net = (operation: string, body: unknown): unknown =>
  operation === "listPayouts"
    ? JSON.parse(JSON.stringify(body), (name, value: unknown) =>
        name === "amount" ? (Number(value) - 1).toFixed(2) : value,
      )
    : body;

it("amounts of a list that are net of a fee let no second payout to the same payee take the first one", async () => {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const world = await makeWorld({
    clock,
    simulator: { clock: async () => clock(), rewrite: net },
  });
  const { ledger, simulator } = world;
  await simulator.setTemperament({ payoutKeys: "dropped" });
  const payee = await world.once({ operation: "createBeneficiary", request: beneficiary });
  if (payee.is !== "done") throw new Error(JSON.stringify(payee));
  const { beneficiary_id } = payee.made;
  const pay = (workflowId: string, amount: string, attempt = 1) =>
    world.once(
      { operation: "createPayout", request: { ...payout, beneficiary_id, amount } },
      { workflowId, attempt, ...(attempt > 1 && { testimony: undefined }) },
    );
  for (const name of ["known-1", "known-2", "known-3", "known-4"]) {
    await pay(name, "10.00");
    passed += 60_000;
  }
  await simulator.addFault({ kind: "dropped", operation: "createPayout" });
  await pay("made", "100.00");
  await simulator.addFault({ kind: "dropped-before", operation: "createPayout" });
  await pay("unmade", "99.00");
  for (let attempt = 2; attempt < 6; attempt++) {
    passed += 60_000;
    await pay("made", "100.00", attempt);
    await pay("unmade", "99.00", attempt);
  }
  const { payouts } = await simulator.state();
  expect(payouts.map(({ amount }) => amount).toSorted()).toEqual([
    "10.00",
    "10.00",
    "10.00",
    "10.00",
    "100.00",
  ]);
  expect(await ledger.rows({ needsPerson: true })).toMatchObject([
    { state: "asking" },
    { state: "asking" },
  ]);
});
