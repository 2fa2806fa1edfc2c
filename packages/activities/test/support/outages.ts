import { describe, expect, it } from "vitest";
import { beneficiary, card, cardholder, payout as withKey } from "./bodies.ts";
import type { SkippedTime } from "./skipped-time.ts";
import { makeWorld } from "./writes.ts";

const { unique_request_id: _payout, ...payout } = withKey;
const { unique_request_id: _card, ...newCard } = card;
type World = Awaited<ReturnType<typeof makeWorld>>;
const UNVOUCHED = { testimony: undefined };
const OPERATIONS = ["createBeneficiary", "createPayout", "createCardholder", "createCard"] as const;
const HOURS = 3 * 60 * 60_000;

const madeBy = async (
  world: World,
  operation: string,
  request: object,
): Promise<Record<string, unknown>> => {
  const made = await world.once({ operation, request: { ...request }, step: `first ${operation}` });
  if (made.is !== "done") throw new Error(JSON.stringify(made));
  return made.made;
};

/** The request of an operation, after what has to be there first. */
const requestOf = async (
  world: World,
  operation: (typeof OPERATIONS)[number],
): Promise<Record<string, unknown>> => {
  // It signs in: hours pass in a moment here, and the client counts its sign-ins by the clock of the process.
  await madeBy(world, "createBalance", { currency: "USD", name: "cards" });
  switch (operation) {
    case "createBeneficiary":
      return beneficiary;
    case "createCardholder":
      return cardholder;
    case "createPayout": {
      const { beneficiary_id } = await madeBy(world, "createBeneficiary", beneficiary);
      return { ...payout, beneficiary_id };
    }
    case "createCard": {
      const { card_holder_id } = await madeBy(world, "createCardholder", cardholder);
      const [balance] = (await world.simulator.state()).balances;
      return { ...newCard, card_holder_id, balance_id: balance?.balance_id };
    }
  }
};

const countOf = async ({ simulator }: World, operation: (typeof OPERATIONS)[number]) => {
  const { beneficiaries, cardholders, cards, payouts } = await simulator.state();
  const all = {
    createBeneficiary: beneficiaries,
    createCardholder: cardholders,
    createCard: cards,
    createPayout: payouts,
  };
  return all[operation].length;
};

/** Describes what outages and lost answers do to writes over a ledger. */
export const describeOutages = (startTime: () => Promise<SkippedTime>): void => {
  const kinds = ["503", "refused"] as const;
  describe.each(kinds)("an outage of hours (%s)", (kind) => {
    it.each(OPERATIONS)(
      "of %s asks nobody, waits longer and longer, and succeeds once",
      async (operation) => {
        const { open, skip } = await startTime();
        const world = await makeWorld({ simulator: { verifyAfter: 0 }, openWith: open });
        const request = await requestOf(world, operation);
        const before = await countOf(world, operation);
        await world.outage.set(kind);
        const task = { operation, request, step: "step" };
        const delays: Array<number> = [];
        let version: number | undefined;
        for (let attempt = 1, waited = 0; waited < HOURS; attempt++) {
          const testimony =
            attempt === 1
              ? ({ is: "none" } as const)
              : version === undefined
                ? undefined
                : version === 0
                  ? ({ is: "none" } as const)
                  : ({ is: "version", version } as const);
          const ended = await world.once(task, { attempt, testimony });
          if (ended.is !== "wait") throw new Error(`${attempt}: ${JSON.stringify(ended)}`);
          ({ version } = ended);
          delays.push(ended.delayMs);
          waited += ended.delayMs;
          await skip(ended.delayMs);
        }
        expect(delays.length).toBeLessThan(100);
        expect(delays.at(-1)).toBeGreaterThanOrEqual(60_000);
        await world.outage.set("up");
        const known = version === undefined ? undefined : ({ is: "version", version } as const);
        let ended = await world.once(task, { attempt: delays.length + 1, testimony: known });
        for (let more = 2; ended.is === "wait" && more < 10; more++) {
          await skip(ended.delayMs);
          ended = await world.once(task, { attempt: delays.length + more, ...UNVOUCHED });
        }
        expect(ended).toMatchObject({ is: "done" });
        expect(await countOf(world, operation)).toBe(before + 1);
      },
    );
  });

  it.each(kinds)(
    "an outage (%s) that began before the first sign-in asks nobody, and is sat out",
    async (kind) => {
      const { open } = await startTime();
      const world = await makeWorld({ openWith: open });
      await world.outage.set(kind);
      const task = { operation: "createBeneficiary", request: beneficiary };
      expect(await world.until(task, {}, 3)).toMatchObject({ is: "wait", version: 1 });
      expect(await world.ledger.rows({ needsPerson: true, limit: 1 })).toEqual([]);
      await world.outage.set("up");
      const known = { testimony: { is: "version", version: 1 } } as const;
      expect(await world.until(task, known)).toMatchObject({ is: "done" });
      expect(await countOf(world, "createBeneficiary")).toBe(1);
    },
  );
};
