import { hash } from "node:crypto";
import { Engine } from "./engine.ts";
import { stuck, violated, wasAsked } from "./invariants.ts";
import { nextOf } from "./transitions.ts";
import { stopClocks } from "./virtual-time.ts";
import { keyOf, type State, type World } from "./world.ts";

/** What an exploration came to. */
export interface Explored {
  readonly world: string;
  readonly states: number;
  readonly steps: number;
  /** States in which nothing more can happen. */
  readonly ends: number;
  /** Ends at which somebody was asked on the way. */
  readonly endsAsked: number;
  readonly seconds: number;
  /** Whether all states were seen. */
  readonly isComplete: boolean;
  /** The shortest way to a state that must not be, with what is wrong there. */
  readonly counterexample: ReadonlyArray<string> | undefined;
}

/** Bounds of an exploration. */
export interface Bounds {
  readonly mostStates?: number;
}

/** What was seen, and from where it was come to first. */
class Seen {
  readonly #keys = new Set<string>();
  readonly #from: Array<number> = [];
  readonly #labels: Array<string> = [];
  /** Each label once. */
  readonly #label = new Map<string, string>();

  get size(): number {
    return this.#keys.size;
  }

  /** @returns the number of a state that was not seen before. */
  add(state: State, from: number, label: string): number | undefined {
    // As good as the key itself, and a tenth of its size.
    const key = hash("md5", keyOf(state), "base64");
    if (this.#keys.has(key)) return undefined;
    this.#keys.add(key);
    this.#from.push(from);
    const known = this.#label.get(label) ?? label;
    this.#label.set(known, known);
    return this.#labels.push(known) - 1;
  }

  traceTo(number: number): ReadonlyArray<string> {
    const labels: Array<string> = [];
    for (let at = number; at > 0; at = this.#from[at] ?? 0) labels.push(this.#labels[at] ?? "");
    return labels.toReversed();
  }
}

/** One exploration. */
class Exploration {
  readonly #engine: Engine;
  readonly #seen = new Seen();
  readonly #now = performance.now.bind(performance);
  readonly #began = this.#now();
  #steps = 0;
  #ends = 0;
  #endsAsked = 0;

  constructor(world: World) {
    this.#engine = new Engine(world);
  }

  async go({ mostStates = Number.POSITIVE_INFINITY }: Bounds): Promise<Explored> {
    const first = await this.#engine.begin();
    let reached = [{ state: first, number: this.#seen.add(first, 0, "") ?? 0 }];
    while (reached.length > 0) {
      const found: typeof reached = [];
      for (const { number, state } of reached) {
        const next = await nextOf(this.#engine, state);
        this.#steps += next.length;
        const wrong = next.length === 0 ? await this.#end(state) : undefined;
        if (wrong !== undefined) return this.#result(false, [...this.#seen.traceTo(number), wrong]);
        for (const { label, state: then } of next) {
          const added = this.#seen.add(then, number, label);
          if (added === undefined) continue;
          const fault = await violated(this.#engine, state, then);
          if (fault !== undefined) {
            return this.#result(false, [...this.#seen.traceTo(added), fault]);
          }
          found.push({ state: then, number: added });
        }
        if (this.#seen.size > mostStates) return this.#result(false, undefined);
      }
      reached = found;
    }
    return this.#result(true, undefined);
  }

  /** Nothing more can happen: every run must have ended. */
  async #end(state: State): Promise<string | undefined> {
    this.#ends += 1;
    if (await wasAsked(this.#engine, state)) this.#endsAsked += 1;
    return stuck(this.#engine, state);
  }

  #result(isComplete: boolean, counterexample: Explored["counterexample"]): Explored {
    return {
      world: this.#engine.world.name,
      states: this.#seen.size,
      steps: this.#steps,
      ends: this.#ends,
      endsAsked: this.#endsAsked,
      seconds: Math.round(this.#now() - this.#began) / 1000,
      isComplete,
      counterexample,
    };
  }
}

/**
 * Goes every way through a world, the shortest first, until something is wrong or everything was
 * seen.
 */
export const explore = async (world: World, bounds: Bounds = {}): Promise<Explored> => {
  const exploration = new Exploration(world);
  const letRun = stopClocks();
  try {
    return await exploration.go(bounds);
  } finally {
    letRun();
  }
};
