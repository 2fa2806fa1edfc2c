import { expect, it, onTestFinished } from "vitest";
import { runTracker } from "../src/tracker.ts";

it("the tracker notices payouts that settle within a minute, with more of them open than it can read one by one", async () => {
  const load = { perSecond: 10, open: 20_000, forMs: 300_000 };
  const seen = await runTracker(load, {
    defer: (end) => onTestFinished(async () => void (await end())),
    progress: () => {},
    signal: new AbortController().signal,
  });
  // All but those of the last seconds.
  expect(seen.noticed).toBeGreaterThan(2_700);
  expect(seen.p99).toBeLessThan(60);
  // The budget, of which some requests are of the first minute of many young payouts.
  expect(seen.requests).toBeLessThanOrEqual(20);
  expect(seen.megabytes).toBeLessThan(200);
});
