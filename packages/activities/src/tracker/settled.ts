/**
 * Reads which payouts have settled since the last look: the cost follows what completes, and not what is open.
 *
 * The watermark is the latest completion time that the service has shown, by its own clock: it is passed to the next run
 * of the tracker. Each look begins some time before it, because a list may show a completion late. Whether the service
 * honours the window is an assumption, and nothing depends on it: each payout is read by its own schedule as well. A list
 * that shows a row outside of the window ends the look after a page.
 *
 * | payouts a second | a look | requests a second | statements of the ledger |
 * |---|---|---|---|
 * | 0.1 | every 5 s | 0.2 | 2 a look, and 3 for each that has settled |
 * | 10 | every 5 s | 1.4 | a reading and a transaction for a page of 50 |
 * | 100 | every 20 s | 5 | the same |
 */
import { inWindow, type Payout, readTime, WINDOW_EDGE_MS } from "@durable-payments/client/effect";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import { zoneOf } from "../payout-status.ts";
import { LAST } from "../run-operation.ts";
import type { Followed } from "./follow.ts";
import { isLastPage, type ReaderOptions } from "./reader.ts";

/** A list may show a completion this much later than another one. */
const OVERLAP_MS = 30_000;

const SHORTEST_SPAN_MS = 2 * OVERLAP_MS;

/** A tracker without a watermark looks back this far. */
const FIRST_LOOK_MS = 3_600_000;

const EVERY_MS = 5_000;

/** Most pages of a look: more have settled after an outage, and are read by shorter windows. */
const MOST_PAGES = 200;

const keyOf = ({ complete_time, payout_id, payout_status }: Payout): string =>
  `${payout_id} ${payout_status} ${complete_time}`;

/**
 * Makes the reader of settled payouts.
 *
 * @param before its last watermark: milliseconds since 1970 by the service's clock.
 */
export const settled = (
  { account, call, ledger }: ReaderOptions,
  { endListed, settings }: Followed,
  before: number | undefined,
) => {
  let watermark = before;
  /** Rows of the last whole look, which the overlap shows again. */
  let known: ReadonlySet<string> = new Set();
  let newest = -Infinity;
  /** The length of a window, if all that has settled since the watermark is too much for a look. */
  let spanMs = Infinity;

  const look = async (): Promise<number> => {
    const [open] = await ledger.openPayouts(account, 1);
    const { assumptions, perSecond } = await settings();
    if (open === undefined || assumptions.listWindow === "none") {
      // Payouts that are made later settle later: what has settled in the meantime is not read.
      watermark = undefined;
      newest = -Infinity;
      return EVERY_MS;
    }
    const { now } = await ledger.state();
    const from = (watermark ?? now - FIRST_LOOK_MS) - OVERLAP_MS;
    const to = from + spanMs;
    const window = inWindow("settle_time", { from, ...(to < Infinity && { to }) });
    const zone = zoneOf(assumptions);
    const latest = now + assumptions.clockSkewSeconds * 1_000;
    const shown = new Set<string>();
    const isNew = (payout: Payout): boolean => {
      const key = keyOf(payout);
      const isShown = shown.has(key);
      shown.add(key);
      return !isShown && !known.has(key);
    };
    let pages = 0;
    let isWhole = false;
    let isHonoured = true;
    while (isHonoured && !isWhole && pages < MOST_PAGES) {
      pages += 1;
      const query = { ...window, page_num: pages, page_size: PAGE_SIZE };
      const page = await call((service) => service.listPayouts(query, LAST));
      const times = page.item_list.map(
        ({ complete_time }) => readTime(complete_time, zone)?.latest ?? -Infinity,
      );
      isHonoured = times.every((time) => time >= from - WINDOW_EDGE_MS);
      newest = times.reduce((max, time) => (time > latest ? max : Math.max(max, time)), newest);
      isWhole = isLastPage(page, pages);
      await endListed(page.item_list.filter(isNew));
    }
    // More than a look can read in the shortest window is left to the schedules.
    if (isHonoured && (isWhole || spanMs === SHORTEST_SPAN_MS)) {
      known = shown;
      const reached = Math.min(newest, to);
      if (reached > -Infinity) watermark = Math.max(watermark ?? -Infinity, reached);
      spanMs = reached === newest ? Infinity : spanMs * 2;
    } else if (isHonoured) {
      spanMs = Math.max(SHORTEST_SPAN_MS, Math.min(spanMs, newest - from) / 4);
    }
    return Math.max(EVERY_MS, (pages * 1_000) / perSecond);
  };

  return { look, watermark: () => watermark };
};
