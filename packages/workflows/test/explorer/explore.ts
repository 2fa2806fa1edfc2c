import { hash } from "node:crypto";
import { Engine } from "./engine.ts";
import { unfinishedRun, violationOf, wasAsked } from "./invariants.ts";
import { transitionsOf } from "./transitions.ts";
import { stopClocks } from "./virtual-time.ts";
import { keyOf, type State, type Scenario } from "./scenario.ts";

/** What an exploration has found. */
export interface ExplorationResult {
  readonly scenario: string;
  readonly states: number;
  readonly steps: number;
  /** States in which nothing more can happen. */
  readonly ends: number;
  /** Ends on whose way a person was asked. */
  readonly endsAsked: number;
  readonly seconds: number;
  /** Whether all states were seen. */
  readonly isComplete: boolean;
  /** The shortest way to a violated invariant, and the violation. */
  readonly counterexample: ReadonlyArray<string> | undefined;
}

/** Bounds of an exploration. */
export interface Bounds {
  readonly mostStates?: number;
}

/** The states that were seen, each with the state from which it was reached first. */
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

  constructor(scenario: Scenario) {
    this.#engine = new Engine(scenario);
  }

  async run({ mostStates = Number.POSITIVE_INFINITY }: Bounds): Promise<ExplorationResult> {
    const first = await this.#engine.begin();
    let reached = [{ state: first, number: this.#seen.add(first, 0, "") ?? 0 }];
    while (reached.length > 0) {
      const found: typeof reached = [];
      for (const { number, state } of reached) {
        const next = await transitionsOf(this.#engine, state);
        this.#steps += next.length;
        const wrong = next.length === 0 ? await this.#end(state) : undefined;
        if (wrong !== undefined) return this.#result(false, [...this.#seen.traceTo(number), wrong]);
        for (const { label, state: then } of next) {
          const added = this.#seen.add(then, number, label);
          if (added === undefined) continue;
          const fault = await violationOf(this.#engine, state, then);
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
    return unfinishedRun(this.#engine, state);
  }

  #result(
    isComplete: boolean,
    counterexample: ExplorationResult["counterexample"],
  ): ExplorationResult {
    return {
      scenario: this.#engine.scenario.name,
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
 * Follow every way through a scenario, the shortest first, until an invariant is violated or every state
 * was seen.
 */
export const explore = async (
  scenario: Scenario,
  bounds: Bounds = {},
): Promise<ExplorationResult> => {
  const exploration = new Exploration(scenario);
  const letRun = stopClocks();
  try {
    return await exploration.run(bounds);
  } finally {
    letRun();
  }
};
