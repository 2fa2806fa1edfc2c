import { describe, expect, it } from "vitest";
import { loseMany } from "../support/lose-many.ts";

const MEGABYTE = 2 ** 20;

describe.each(["dropped", "echoed"] as const)(
  "1,000 lost responses, keys %s in the list",
  (keys) => {
    it(
      "ask nobody, pay each once, with fewer requests than losses and flat memory",
      { timeout: 300_000 },
      async () => {
        const before = process.memoryUsage().rss;
        const { requests, ...found } = await loseMany(keys, 1_000);
        expect(found).toEqual({ made: 1_000, done: 1_000, questions: 0 });
        expect(requests).toBeLessThan(1_000);
        // The ledger, the service and the garbage of both are in this process, too.
        expect(process.memoryUsage().rss - before).toBeLessThan(500 * MEGABYTE);
      },
    );
  },
);
