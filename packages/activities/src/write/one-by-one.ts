import type { Ledger } from "@durable-payments/ledger";
import { randomUUID } from "node:crypto";

/** Longer than a send takes: what a killed worker holds runs out. */
const LEASE_MS = 60_000;

/** Longest wait for another worker, so that a dispatch still comes in time. */
const MOST_WAIT_MS = 3_000;
const ASK_AGAIN_AFTER_MS = 100;

/** Lets one of many do something at a time: in this process by turns, among workers by a lease of the ledger. */
export class OneByOne {
  readonly #ledger: Ledger;
  readonly #last = new Map<string, Promise<void>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /**
   * Waits for a turn.
   *
   * @returns what ends it; undefined where another worker has it for too long.
   */
  async take(name: string): Promise<(() => Promise<void>) | undefined> {
    const turn = Promise.withResolvers<void>();
    const before = this.#last.get(name);
    this.#last.set(name, turn.promise);
    const end = () => {
      if (this.#last.get(name) === turn.promise) this.#last.delete(name);
      turn.resolve();
    };
    await before;
    try {
      const holder = randomUUID();
      const until = performance.now() + MOST_WAIT_MS;
      while (!(await this.#ledger.lease(name, holder, LEASE_MS))) {
        if (performance.now() > until) {
          end();
          return undefined;
        }
        await new Promise((resolve) => {
          setTimeout(resolve, ASK_AGAIN_AFTER_MS);
        });
      }
      return async () => {
        try {
          await this.#ledger.lease(name, holder, 0);
        } finally {
          end();
        }
      };
    } catch (error) {
      end();
      throw error;
    }
  }
}
