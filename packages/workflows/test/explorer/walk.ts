import { Engine } from "./engine.ts";
import { stuck, violated, wasAsked } from "./invariants.ts";
import { nextOf } from "./transitions.ts";
import { stopClocks } from "./virtual-time.ts";
import type { World } from "./world.ts";

/** What walks through a world came to. */
export interface Walked {
  readonly walks: number;
  readonly steps: number;
  /** Walks on which somebody was asked. */
  readonly asked: number;
  /** The first walk to a state that must not be, with what is wrong there. */
  readonly counterexample: ReadonlyArray<string> | undefined;
}

/** Numbers from 0 to 1, always the same for a seed (mulberry32). */
const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const walkOnce = async (
  engine: Engine,
  random: () => number,
): Promise<{
  readonly trace: ReadonlyArray<string>;
  readonly fault?: string;
  readonly isAsked: boolean;
}> => {
  const trace: Array<string> = [];
  let state = await engine.begin();
  for (;;) {
    const next = await nextOf(engine, state);
    const chosen = next[Math.floor(random() * next.length)];
    if (chosen === undefined) break;
    trace.push(chosen.label);
    const fault = await violated(engine, state, chosen.state);
    ({ state } = chosen);
    if (fault !== undefined) return { trace, fault, isAsked: await wasAsked(engine, state) };
  }
  const fault = await stuck(engine, state);
  return { trace, isAsked: await wasAsked(engine, state), ...(fault !== undefined && { fault }) };
};

/** Walks through a world to its end, again and again, by chance: where there is too much to see it all. */
export const walk = async (
  world: World,
  { seed, walks }: { readonly seed: number; readonly walks: number },
): Promise<Walked> => {
  const random = randomFrom(seed);
  const letRun = stopClocks();
  try {
    let steps = 0;
    let asked = 0;
    let engine = new Engine(world);
    for (let n = 1; n <= walks; n++) {
      // What is kept of the ways that were gone is of little use to others.
      if (n % 1_000 === 0) engine = new Engine(world);
      const { fault, isAsked, trace } = await walkOnce(engine, random);
      steps += trace.length;
      if (isAsked) asked += 1;
      if (fault !== undefined) return { walks: n, steps, asked, counterexample: [...trace, fault] };
    }
    return { walks, steps, asked, counterexample: undefined };
  } finally {
    letRun();
  }
};
