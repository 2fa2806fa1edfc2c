import { describe, expect, it } from "vitest";
import { explore } from "./explore.ts";
import { randomWalks } from "./random-walk.ts";
import { largeScenarios, smallScenarios, walkedScenarios } from "./scenarios.ts";

/** Set by `npm run explore`. */
const isFull = process.env["EXPLORE"] === "full";
const timeout = 60 * 60_000;

describe("each step is paid once, whatever happens in which order", () => {
  it.each(isFull ? [...smallScenarios, ...largeScenarios] : smallScenarios)(
    "every way: $name",
    { timeout },
    async (scenario) => {
      const { counterexample, ...figures } = await explore(scenario);
      if (isFull) console.log(JSON.stringify(figures));
      expect(counterexample).toBeUndefined();
      expect(figures.isComplete).toBe(true);
    },
  );

  it.each(walkedScenarios)("ways by chance: $name", { timeout }, async (scenario) => {
    const seed = Number(process.env["SEED"] ?? (isFull ? Date.now() : 1));
    const { counterexample, ...figures } = await randomWalks(scenario, {
      seed,
      walks: isFull ? 5_000 : 20,
    });
    if (isFull) console.log(JSON.stringify({ scenario: scenario.name, seed, ...figures }));
    expect(counterexample, `seed ${seed}`).toBeUndefined();
  });
});
