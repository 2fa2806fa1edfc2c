import { describe, expect, it } from "vitest";
import { loseMany } from "../support/lose-many.ts";

describe.each(["dropped", "echoed"] as const)("120 lost responses, keys %s in the list", (keys) => {
  it(
    "ask nobody, pay each once, and share the readings of the list",
    { timeout: 60_000 },
    async () => {
      const { requests, ...found } = await loseMany(keys, 120);
      expect(found).toEqual({ made: 120, done: 120, questions: 0 });
      expect(requests).toBeLessThan(120);
    },
  );
});
