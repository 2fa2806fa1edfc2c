import { describe, expect, it, vi } from "vitest";
import { explore } from "./explore.ts";
import { walk } from "./walk.ts";
import { largeWorlds, smallWorlds, wholeWorlds } from "./worlds.ts";

vi.hoisted(() => {
  // The worker puts it into a workflow's globals, and the SDK takes it from there as it is loaded.
  const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
  Object.assign(globalThis, { AsyncLocalStorage });
});

/** Set by `npm run explore`. */
const isFull = process.env["EXPLORE"] === "full";
const timeout = 60 * 60_000;

describe("each step is paid once, whatever happens in which order", () => {
  it.each(isFull ? [...smallWorlds, ...largeWorlds] : smallWorlds)(
    "every way: $name",
    { timeout },
    async (world) => {
      const { counterexample, ...figures } = await explore(world);
      if (isFull) console.log(JSON.stringify(figures));
      expect(counterexample).toBeUndefined();
      expect(figures.isComplete).toBe(true);
    },
  );

  it.each(wholeWorlds)("ways by chance: $name", { timeout }, async (world) => {
    const seed = Number(process.env["SEED"] ?? (isFull ? Date.now() : 1));
    const { counterexample, ...figures } = await walk(world, { seed, walks: isFull ? 5_000 : 20 });
    if (isFull) console.log(JSON.stringify({ world: world.name, seed, ...figures }));
    expect(counterexample, `seed ${seed}`).toBeUndefined();
  });
});
