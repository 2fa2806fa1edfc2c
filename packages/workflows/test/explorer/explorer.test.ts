import { expect, it, vi } from "vitest";
import { explore, type Explored } from "./explore.ts";
import { largeWorlds, smallWorlds } from "./worlds.ts";

vi.hoisted(() => {
  // The worker puts it into a workflow's globals, and the SDK takes it from there as it is loaded.
  const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
  Object.assign(globalThis, { AsyncLocalStorage });
});

const figures = ({ ends, endsAsked, seconds, states, steps, world }: Explored): string =>
  `${world}: ${states} states, ${steps} steps, ${ends} ends, ${endsAsked} of them with a question, ${seconds} s`;

/** Set by `npm run explore`. */
const isFull = process.env["EXPLORE"] === "full";
const LONGEST_MS = 30 * 60_000;

it.each(isFull ? [...smallWorlds, ...largeWorlds] : smallWorlds)(
  "pays each step once, whatever happens in which order: $name",
  { timeout: LONGEST_MS },
  async (world) => {
    const explored = await explore(world);
    if (isFull) console.log(figures(explored));
    expect(explored.counterexample).toBeUndefined();
    expect(explored.isComplete).toBe(true);
  },
);
