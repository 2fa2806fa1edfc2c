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

/** Of a service that gives smaller pages than asked for. */
const sweepInPagesOf = (
  size: number,
  totals: { readonly total_item?: number; readonly total_page?: number },
  rows = listed,
  fromPage = 1,
): Promise<number> =>
  sweep({
    list: trackedPayouts,
    waiting,
    assumptions: defaultAssumptions,
    fromPage,
    restsUntil: 0,
    read: async ({ page_num }) => {
      read.push(page_num);
      const first = (page_num - 1) * size;
      return { ...totals, item_list: rows.slice(first, first + size), unreadable: [] };
    },
    signalAll: async () => undefined,
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
    signalAll: async () => undefined,
  });

describe("a sweep", () => {
  it("that took long is followed by a rest, in which only what is near is searched for", async () => {
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

  it("reaches a payout that a service whose clock is behind has dated before its run", async () => {
    waiting = new WaitingRuns("an account");
    const awaited = `payout:${listed[390]?.payout_id}`;
    await waiting.refresh(clientOf([awaited], { since: new Date(BEGIN) }).client);
    await sweepOnce(0);
    expect(waiting.find(awaited)?.createdAt).toBe(BEGIN - 390_000);
  });

  it("reaches a payout again whose time was shown without an offset", async () => {
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

  it("searches for nothing that is not due", async () => {
    await sweepOnce(0);
    vi.setSystemTime(BEGIN + 59_000);
    read = [];
    await sweepOnce(0);
    expect(read).toEqual([]);
  });

  describe.each([1, 2])("over pages smaller than asked for, from page %i on", (fromPage) => {
    const rows = listed.slice(0, 30);
    const oldest = `payout:${rows[29]?.payout_id}`;
    beforeEach(async () => {
      waiting = new WaitingRuns("an account");
      await waiting.refresh(clientOf([oldest], { since: new Date(BEGIN) }).client);
    });

    it.each([
      ["pages as they are", { total_item: 30, total_page: 5 }],
      ["pages as they were asked for", { total_item: 30, total_page: 1 }],
      ["nothing that can be read", {}],
      ["items alone", { total_item: 30 }],
    ])("reaches the last item where the totals count %s", async (_, totals) => {
      await sweepInPagesOf(7, totals, rows, fromPage);
      expect(waiting.find(oldest)?.createdAt).toBe(BEGIN - 29_000);
    });
  });

  it("ends where a service answers the same page whatever is asked for", async () => {
    const rows = listed.slice(0, 7);
    await sweepInPagesOf(7, { total_item: 30, total_page: 1 }, [
      ...rows,
      ...rows,
      ...rows,
      ...rows,
    ]);
    expect(read).toEqual([1, 2]);
  });

  it("goes on over a page of rows that cannot be read", async () => {
    await sweep({
      list: trackedPayouts,
      waiting,
      assumptions: defaultAssumptions,
      fromPage: 1,
      restsUntil: 0,
      read: async ({ page_num }) => {
        read.push(page_num);
        const isOdd = page_num === 1;
        const unreadable = isOdd ? [{ reason: "has no id that can be read", fields: {} }] : [];
        return { total_page: 2, item_list: isOdd ? [] : listed.slice(0, PAGE), unreadable };
      },
      signalAll: async () => undefined,
    });
    expect(read).toEqual([1, 2]);
  });

  it("reads on to what its list dates long before its run, once it was not shown for a time", async () => {
    const payout = `payout:${listed[390]?.payout_id}`;
    const since = new Date(BEGIN + 3_600_000);
    waiting = new WaitingRuns("an account");
    await waiting.refresh(clientOf([payout], { since }).client);
    vi.setSystemTime(since);
    await sweepOnce(0);
    expect(read).toHaveLength(1);

    read = [];
    vi.setSystemTime(since.getTime() + defaultAssumptions.listLagSeconds * 1000);
    await sweepOnce(0);
    expect(waiting.find(payout)?.createdAt).toBe(BEGIN - 390_000);
  });

  it("reads to the end for what is not listed later and later", async () => {
    const since = BEGIN + 3_600_000;
    waiting = new WaitingRuns("an account");
    const { client } = clientOf(["payout:none"], { since: new Date(since) });
    const minutes: Array<number> = [];
    for (let minute = 0; minute < 60; minute++) {
      vi.setSystemTime(since + minute * 60_000);
      await waiting.refresh(client);
      read = [];
      await sweepOnce(0);
      if (read.length === PAGES) minutes.push(minute);
    }
    expect(minutes).toEqual([3, 7, 16, 34]);
  });
});
