import { expect, it, onTestFinished } from "vitest";
import { runTracker } from "../src/tracker.ts";

it("the trackers of two accounts notice payouts that settle within a minute, with more of them open than they can read one by one", async () => {
  const accounts = [
    { perSecond: 10, open: 20_000 },
    { perSecond: 0.5, open: 1_000, rate: 2 },
  ];
  const seen = await runTracker(
    { accounts, forMs: 300_000 },
    {
      defer: (end) => onTestFinished(async () => void (await end())),
      progress: () => {},
      signal: new AbortController().signal,
    },
  );
  // All but those of the last seconds.
  expect(seen.noticed).toBeGreaterThan(2_800);
  for (const { budget, p99, requests } of seen.accounts) {
    expect(p99).toBeLessThan(60);
    expect(requests).toBeLessThanOrEqual(budget);
  }
  expect(seen.megabytes).toBeLessThan(200);
});
