import { describe, expect, it } from "vitest";
import { loseMany } from "../support/lose-many.ts";
import { timeInMemory } from "../support/skipped-time.ts";

describe.each(["dropped", "echoed"] as const)(
  "60 lost responses of each of two accounts, keys %s in the list",
  (keys) => {
    it(
      "ask nobody, pay each once, and share the readings of the list",
      { timeout: 60_000 },
      async () => {
        for (const { requests, ...found } of await loseMany(keys, 60, await timeInMemory())) {
          expect(found).toEqual({ made: 60, done: 60, questions: [] });
          expect(requests).toBeLessThan(60);
        }
      },
    );
  },
);
