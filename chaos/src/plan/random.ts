import { hash } from "node:crypto";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

/** Pseudo-random values that follow from a seed and a name alone: one stream for each purpose. */
export class Random {
  readonly #generator: RandomGenerator;

  constructor(seed: number, name: string) {
    // Neighbouring seeds and names give unrelated streams.
    const digest = hash("sha256", `${seed}/${name}`, "buffer");
    this.#generator = xoroshiro128plus(digest.readInt32LE());
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    return uniformFloat64(this.#generator);
  }

  /** A number from `from` up to, not including, `to`. */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return uniformInt(this.#generator, from, to);
  }

  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<A>(items: readonly [A, ...A[]]): A {
    return items[this.int(0, items.length - 1)] ?? items[0];
  }

  /** One of several, each in proportion to its weight. */
  weighted<A>(items: ReadonlyArray<readonly [A, number]>): A {
    let left = this.between(
      0,
      items.reduce((sum, [, weight]) => sum + weight, 0),
    );
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new Error("There is nothing to choose from.");
  }
}
