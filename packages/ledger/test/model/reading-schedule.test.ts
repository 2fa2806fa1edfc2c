import { describe, expect, it } from "vitest";
import { nextRead, nextWatch } from "../../src/model/reading-schedule.ts";

const HOUR = 3_600_000;
const DAYS = 24 * HOUR;

/** The ages at which a payout is read, if each reading comes when it is due. */
const agesOf = (watchedForMs: number): ReadonlyArray<number> => {
  const ages: Array<number> = [];
  for (let at = nextWatch(0, 0, watchedForMs); at !== null; at = nextWatch(0, at, watchedForMs))
    ages.push(at);
  return ages;
};

describe("the readings of a watched payout", () => {
  it("come at ages that double, then at most a tenth of the time apart, and once at its end", () => {
    const ages = agesOf(30 * DAYS).map((age) => age / HOUR);
    expect(ages.slice(0, 5)).toEqual([6, 12, 24, 48, 96]);
    expect(ages.at(-1)).toBe(720);
    expect(ages.every((age, at) => age - (ages[at - 1] ?? 0) <= 72)).toBe(true);
    // The figures of requests follow from this number.
    expect(ages).toHaveLength(14);
  });

  it("are as many for any time, and none without one", () => {
    expect(agesOf(60_000)).toHaveLength(14);
    expect(agesOf(0)).toEqual([]);
  });

  it("end after a tracker was away, with one reading after the time", () => {
    expect(nextWatch(0, 29 * DAYS, 30 * DAYS)).toBe(30 * DAYS);
    expect(nextWatch(0, 31 * DAYS, 30 * DAYS)).toBeNull();
  });

  it("are those of payouts alone, once there is an outcome", () => {
    const of = { standing: "completed", changedAt: 0 } as const;
    expect(nextRead(of, 1)).toBeNull();
    expect(nextRead({ ...of, outcomeAt: 0 }, 0)).toBe(6 * HOUR);
    expect(nextRead({ ...of, standing: "returned", outcomeAt: 0 }, 0)).toBe(6 * HOUR);
  });
});
