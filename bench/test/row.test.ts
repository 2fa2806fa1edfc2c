import { describe, expect, it } from "vitest";
import { summaryOf } from "../src/row.ts";

const comparison = { name: "it", unit: "µs" };

describe("summaryOf", () => {
  it("takes the medians of the rounds", () => {
    const row = summaryOf({ ...comparison, ours: [30, 10, 20], baseline: [10, 10, 40] });
    expect(row).toMatchObject({ ours: 20, baseline: 10, ratio: 1 });
  });

  it("divides each round by its own baseline", () => {
    // The machine is ten times slower in the second round: for both.
    const row = summaryOf({ ...comparison, ours: [2, 20, 2], baseline: [1, 10, 1] });
    expect(row.ratio).toBe(2);
    expect(row.interval).toEqual([2, 2]);
  });

  it.each([
    { rounds: 4, interval: [1, 4] },
    { rounds: 15, interval: [4, 12] },
  ])("gives the interval of the median of $rounds rounds: $interval", ({ rounds, interval }) => {
    const ours = Array.from({ length: rounds }, (_, round) => rounds - round);
    const row = summaryOf({ ...comparison, ours, baseline: ours.map(() => 1) });
    expect(row.interval).toEqual(interval);
  });

  it.each([
    { target: { atMost: 2 }, met: true },
    { target: { atMost: 1.9 }, met: false },
    { target: { atLeast: 2 }, met: true },
    { target: { atLeast: 2.1 }, met: false },
  ])("takes $target for $met", ({ met, target }) => {
    expect(summaryOf({ ...comparison, ours: [20], baseline: [10], target }).met).toBe(met);
  });

  it("compares nothing without a target", () => {
    expect(summaryOf({ ...comparison, ours: [20], baseline: [10] }).met).toBeUndefined();
  });
});
