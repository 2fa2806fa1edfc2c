import { defaultAssumptions, type Payout } from "@durable-payments/api-core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WaitingRuns } from "../src/tracker-runs.ts";
import { sweep, trackedPayouts } from "../src/tracker-sweep.ts";
import { clientOf } from "./support/waiting-runs.ts";

const BEGIN = Date.parse("2026-01-01T12:00:00Z");
const PAGE = 50;
const PAGES = 8;
const MS_A_PAGE = 100;

/** Newest first, one a second; all of them open. */
const listed = Array.from({ length: PAGES * PAGE }, (_, i): Payout => ({
  payout_id: `payout-${i}`,
  payout_status: "processing",
  amount: "1.00",
  currency: "USD",
  create_time: new Date(BEGIN - i * 1_000).toISOString(),
}));

let waiting: WaitingRuns;
let read: Array<number>;
beforeEach(async () => {
  vi.useFakeTimers({ now: BEGIN });
  waiting = new WaitingRuns("an account");
  const since = new Date(BEGIN - 3_600_000);
  const awaited = listed.map(({ payout_id }) => `payout:${payout_id}`);
  await waiting.refresh(clientOf(awaited, { since }).client);
  read = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const sweepOnce = (restsUntil: number, rows = listed): Promise<number> =>
  sweep({
    list: trackedPayouts,
    waiting,
    assumptions: defaultAssumptions,
    fromPage: 1,
    restsUntil,
    read: async ({ page_num }) => {
      vi.setSystemTime(Date.now() + MS_A_PAGE);
      read.push(page_num);
      const first = (page_num - 1) * PAGE;
      return { total_page: PAGES, item_list: rows.slice(first, first + PAGE), unreadable: [] };
    },
    tell: async () => undefined,
  });

describe("a sweep", () => {
  it("that took long is followed by a rest, in which only what is near is looked for", async () => {
    const restsUntil = await sweepOnce(0);
    expect(read).toHaveLength(PAGES);
    expect(restsUntil).toBe(BEGIN + PAGES * MS_A_PAGE * 5);

    // All of them are due again: they have waited for an hour.
    vi.setSystemTime(BEGIN + 3_600_000);
    read = [];
    await sweepOnce(Number.POSITIVE_INFINITY);
    expect(read).toEqual([1, 2]);

    read = [];
    await sweepOnce(0);
    expect(read).toHaveLength(PAGES);
  });

  it("comes to a payout that a service whose clock is behind has dated before its run", async () => {
    waiting = new WaitingRuns("an account");
    const awaited = `payout:${listed[390]?.payout_id}`;
    await waiting.refresh(clientOf([awaited], { since: new Date(BEGIN) }).client);
    await sweepOnce(0);
    expect(waiting.find(awaited)?.createdAt).toBe(BEGIN - 390_000);
  });

  it("comes to a payout again whose time was shown without an offset", async () => {
    waiting = new WaitingRuns("an account");
    const awaited = `payout:${listed[390]?.payout_id}`;
    await waiting.refresh(clientOf([awaited], { since: new Date(BEGIN) }).client);
    await sweepOnce(
      0,
      listed.map(({ create_time = "", ...row }) => ({
        ...row,
        create_time: create_time.slice(0, -1),
      })),
    );
    vi.setSystemTime(BEGIN + 3_600_000);
    read = [];
    await sweepOnce(0);
    expect(read).toHaveLength(PAGES);
  });

  it("looks for nothing that is not due", async () => {
    await sweepOnce(0);
    vi.setSystemTime(BEGIN + 59_000);
    read = [];
    await sweepOnce(0);
    expect(read).toEqual([]);
  });
});
