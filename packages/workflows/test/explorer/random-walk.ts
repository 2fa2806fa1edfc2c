import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";
import { Engine } from "./engine.ts";
import { unfinishedRun, violationOf, wasAsked } from "./invariants.ts";
import { transitionsOf } from "./transitions.ts";
import { stopClocks } from "./virtual-time.ts";
import type { Scenario } from "./scenario.ts";

/** What random walks through a scenario have found. */
export interface WalkResult {
  readonly walks: number;
  readonly steps: number;
  /** Walks on which a person was asked. */
  readonly asked: number;
  /** The first walk to a violated invariant, and the violation. */
  readonly counterexample: ReadonlyArray<string> | undefined;
}

const walkOnce = async (
  engine: Engine,
  random: RandomGenerator,
): Promise<{
  readonly trace: ReadonlyArray<string>;
  readonly fault?: string;
  readonly isAsked: boolean;
}> => {
  const trace: Array<string> = [];
  let state = await engine.begin();
  for (;;) {
    const next = await transitionsOf(engine, state);
    const chosen = next.length === 0 ? undefined : next[uniformInt(random, 0, next.length - 1)];
    if (chosen === undefined) break;
    trace.push(chosen.label);
    const fault = await violationOf(engine, state, chosen.state);
    ({ state } = chosen);
    if (fault !== undefined) return { trace, fault, isAsked: await wasAsked(engine, state) };
  }
  const fault = await unfinishedRun(engine, state);
  return { trace, isAsked: await wasAsked(engine, state), ...(fault !== undefined && { fault }) };
};

/** Follow random ways through a scenario to their ends, for one that is too large to see every state. */
export const randomWalks = async (
  scenario: Scenario,
  { seed, walks }: { readonly seed: number; readonly walks: number },
): Promise<WalkResult> => {
  const random = xoroshiro128plus(seed);
  const letRun = stopClocks();
  try {
    let steps = 0;
    let asked = 0;
    let engine = new Engine(scenario);
    for (let n = 1; n <= walks; n++) {
      // What is kept of earlier walks is of little use to later ones.
      if (n % 1_000 === 0) engine = new Engine(scenario);
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
