import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Attempt } from "../../src/write/guard.ts";
import { beneficiary, payout as withKey } from "../support/bodies.ts";
import { type Ended, makeWorld } from "../support/writes.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { unique_request_id: _, ...payout } = withKey;

/** An account that has paid a million times, and loses the responses of many payouts at once, half of them made. */
const loseMany = async (payoutKeys: "echoed" | "dropped", many: number) => {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const world = await makeWorld({
    clock,
    simulator: {
      balances: { USD: "90000000.00" },
      clock: async () => clock(),
      settleAfter: HOUR,
      tokenLifetime: "30 days",
      backlog: { payouts: 1_000_000, everyMs: 60_000, until: Date.now() - DAY },
    },
    settings: { assumptions: { listLagSeconds: 180 } },
  });
  const { simulator } = world;
  await simulator.setTemperament({ payoutKeys });
  const payee = await world.once({ operation: "createBeneficiary", request: beneficiary });
  if (payee.is !== "done") throw new Error(JSON.stringify(payee));
  const pay = (name: number, attempt: Partial<Attempt> = {}) =>
    world.once(
      {
        operation: "createPayout",
        request: {
          ...payout,
          beneficiary_id: payee.made["beneficiary_id"],
          amount: `${10 + name}.00`,
          payout_reference: createHash("sha256").update(String(name)).digest("hex").slice(0, 12),
        },
      },
      { ...attempt, workflowId: `pay-${name}` },
    );
  const count = async (operation: string) => (await simulator.state()).requests[operation] ?? 0;
  // Known payouts, the first of them days old.
  for (const name of [-1, -2, -3, -4]) {
    await pay(name);
    if (name === -1) passed += 2 * DAY;
    passed += 10_000;
  }
  await simulator.addFault({ kind: "dropped", operation: "createPayout", times: many / 2 });
  await simulator.addFault({ kind: "dropped-before", operation: "createPayout", times: many / 2 });
  const before = await count("listPayouts");
  const all = async (attempt: Partial<Attempt>, of: ReadonlyArray<number>) =>
    new Map<number, Ended>(
      await Promise.all(of.map(async (name) => [name, await pay(name, attempt)] as const)),
    );
  const names = Array.from({ length: many }, (_one, name) => name);
  const ends = await all({}, names);
  for (let attempt = 2; attempt < 8; attempt++) {
    const waiting = names.filter((name) => ends.get(name)?.is === "wait");
    passed += HOUR / 4;
    for (const [name, end] of await all({ attempt, testimony: undefined }, waiting))
      ends.set(name, end);
  }
  const { payouts } = await simulator.state();
  return {
    made: payouts.length - 4,
    done: [...ends.values()].filter(({ is }) => is === "done").length,
    questions: (await world.ledger.rows({ needsPerson: true, limit: many })).length,
    requests: (await count("listPayouts")) - before,
  };
};

/** A whole list has twenty thousand pages, and each reading of one a thousand requests. */
describe.each(["dropped", "echoed"] as const)("120 lost responses, keys %s in the list", (keys) => {
  it(
    "ask nobody, pay each once, and share the readings of the list",
    { timeout: 60_000 },
    async () => {
      const { requests, ...found } = await loseMany(keys, 120);
      expect(found).toEqual({ made: 120, done: 120, questions: 0 });
      expect(requests).toBeLessThan(120);
    },
  );
});
