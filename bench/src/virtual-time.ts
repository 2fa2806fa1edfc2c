import { setImmediate } from "node:timers/promises";

/** When virtual time begins. */
export const START = Date.UTC(2026, 10, 27);

/** Virtual time, which passes when nothing is under way. */
export class VirtualTime {
  busy = 0;
  now = START;
  readonly #timers: Array<{ readonly at: number; readonly wake: () => void }> = [];

  /** Counts a work as under way. */
  async during<A>(work: () => Promise<A>): Promise<A> {
    this.busy += 1;
    try {
      return await work();
    } finally {
      this.busy -= 1;
    }
  }

  async sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#timers.push({ at: this.now + ms, wake: resolve });
    await promise;
  }

  async runUntil(end: number, signal: AbortSignal): Promise<void> {
    while (this.now < end) {
      signal.throwIfAborted();
      for (let quiet = 0; quiet < 3; quiet = this.busy > 0 ? 0 : quiet + 1) await setImmediate();
      this.#timers.sort((one, other) => one.at - other.at);
      const next = this.#timers.shift();
      if (next === undefined) throw new Error("nothing is due");
      this.now = Math.max(this.now, next.at);
      next.wake();
    }
  }
}
