import { describe, expect, it } from "vitest";
import { type Ledger, openLedger } from "../../src/index.ts";
import { describeAttention } from "../support/attention.ts";
import { describeLedger } from "../support/contract.ts";
import { describeFeed } from "../support/feed.ts";
import { describeFailures } from "../support/failures.ts";
import { describeLists } from "../support/lists.ts";
import { describeStatuses } from "../support/statuses.ts";

describe("a ledger in memory", () => {
  let ledger: Promise<Ledger> | undefined;
  describeLedger((options) => (ledger ??= openLedger("memory", options)));
  let late = 0;
  describeAttention(async () => ({
    ledger: await openLedger("memory", { clock: () => Date.now() + late }),
    skip: async (ms) => {
      late += ms;
    },
  }));
  describeLists(() => openLedger("memory"));
  describeFeed(() => openLedger("memory"));
  describeStatuses(() => openLedger("memory"));
  describeFailures(() => openLedger("memory"));

  it("frees a lease that a killed worker took while the clock was ahead", async () => {
    let ahead = 3_600_000;
    const clocked = await openLedger("memory", { clock: () => Date.now() + ahead });
    expect(await clocked.lease("one", "killed", 60_000)).toBe(true);
    ahead = 0;
    expect(await clocked.lease("one", "next", 60_000)).toBe(true);
    expect(await clocked.lease("one", "other", 60_000)).toBe(false);
    await clocked.close();
  });
});
