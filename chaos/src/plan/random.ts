/** Numbers that look random and follow from a seed and a name alone: one stream for each purpose. */
export class Random {
  #state: number;

  constructor(seed: number, name: string) {
    this.#state = seed >>> 0;
    for (const character of name) {
      this.#state = Math.imul(this.#state ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
    }
  }

  /** From 0 up to, not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A number from `from` up to, not including, `to`. */
  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** A whole number from `from` to `to`. */
  int(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<A>(items: readonly [A, ...A[]]): A {
    return items[this.int(0, items.length - 1)] ?? items[0];
  }

  /** One of several, each as often as its weight says beside the others'. */
  weighted<A>(items: ReadonlyArray<readonly [A, number]>): A {
    let left = this.next() * items.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    throw new Error("There is nothing to choose from.");
  }
}
