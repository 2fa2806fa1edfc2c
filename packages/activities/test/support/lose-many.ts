import type { Attempt } from "../../src/write/guard.ts";
import { beneficiary, payout as withKey } from "./bodies.ts";
import { type Ended, makeWorld } from "./writes.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Attempts that a worker makes at once. */
const SLOTS = 100;
const { unique_request_id: _, ...payout } = withKey;

/**
 * An account that has paid a million times, and loses the responses of many payouts at once, half of them made. A whole
 * list has twenty thousand pages, and each reading of one a thousand requests.
 */
export const loseMany = async (payoutKeys: "echoed" | "dropped", many: number) => {
  let passed = 0;
  const clock = () => Date.now() + passed;
  const world = await makeWorld({
    clock,
    simulator: {
      balances: { USD: "90000000.00" },
      clock: async () => clock(),
      settleAfter: MINUTE,
      tokenLifetime: "30 days",
      backlog: { payouts: 1_000_000, everyMs: MINUTE, until: Date.now() - DAY },
    },
    settings: { requestTimeoutMs: 30_000, assumptions: { listLagSeconds: 180 } },
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
          payout_reference: `INV-2026-${String(10_000 + name)}`,
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
  const all = async (attempt: Partial<Attempt>, of: ReadonlyArray<number>) => {
    const ended = new Map<number, Ended>();
    const left = [...of];
    const slot = async () => {
      for (let name = left.shift(); name !== undefined; name = left.shift())
        ended.set(name, await pay(name, attempt));
    };
    await Promise.all(Array.from({ length: SLOTS }, slot));
    return ended;
  };
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
