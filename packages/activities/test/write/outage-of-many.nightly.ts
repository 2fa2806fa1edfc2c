import { whyNoPostgres } from "@durable-payments/tools/postgres";
import { skippedBecause } from "@durable-payments/tools/skip";
import { describe, expect, it } from "vitest";
import { loseMany } from "../support/lose-many.ts";
import { postgresOfTests } from "../support/postgres.ts";
import { type SkippedTime, timeInMemory, timeInPostgres } from "../support/skipped-time.ts";

const MEGABYTE = 2 ** 20;

const describeMany = (startTime: () => Promise<SkippedTime>): void => {
  describe.each(["dropped", "echoed"] as const)(
    "1,000 lost responses of two accounts, keys %s in the list",
    (keys) => {
      it(
        "ask nobody, pay each once, with three requests for each at most and flat memory",
        { timeout: 600_000 },
        async () => {
          const before = process.memoryUsage().rss;
          for (const { requests, ...found } of await loseMany(keys, 500, await startTime())) {
            expect(found).toEqual({ made: 500, done: 500, questions: [] });
            expect(requests).toBeLessThanOrEqual(3 * 500);
          }
          // The services and the garbage of all, and a ledger in memory, are in this process, too.
          expect(process.memoryUsage().rss - before).toBeLessThan(500 * MEGABYTE);
        },
      );
    },
  );
};

describe("over a ledger in memory", () => {
  describeMany(timeInMemory);
});

describe("over a ledger in PostgreSQL", skippedBecause(whyNoPostgres()), () => {
  const server = postgresOfTests();
  describeMany(() => timeInPostgres(server()));
});
