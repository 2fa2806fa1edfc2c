/**
 * Reads payouts that are due by their schedule: open ones, and those with an outcome that are watched, because money may come
 * back. Whatever becomes of a payout, this finds it. Both readers are alike, and none delays the other.
 *
 * As long as the requests are enough, each is read alone. With more open payouts than that, a page of the list shows those
 * that were made within some seconds of the longest due one. All that the page shows are read again later, so they become
 * due together: a request reads up to fifty. Whether the service honours the window is an
 * assumption, and only the cost depends on it: a window that shows nothing of the ledger is not tried again for a minute.
 *
 * | payouts a second that settle in a day | open | each is read every |
 * |---|---|---|
 * | 0.1 | 8,640 | minute, or a tenth of its age |
 * | 10 | 864,000 | hour |
 * | 100 | 8,640,000 | ten hours |
 *
 * Nothing lists what came back, either: the service's filter has no word for it. Watched payouts have half of the requests;
 * see reading-schedule.ts of the ledger for how many they need.
 *
 * The budget ends each second: it costs ten requests and at most 500 statements of the ledger.
 */
import { inWindow } from "@durable-payments/client/effect";
import type { RecordedWrite } from "@durable-payments/ledger";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import { LAST } from "../run-operation.ts";
import type { Followed } from "./follow.ts";
import type { ReaderOptions } from "./reader.ts";

/** Shares of the requests for open payouts. */
const SHARES = { open: 1, watched: 1 / 2 } as const;

/** Payouts that one turn looks at. */
const MOST = 100;

/** A page is worth its request if it shows more than one. */
const FEW = 2;

const RETRY_MS = 60_000;

const SHORTEST_SPAN_MS = 2_000;
const LONGEST_SPAN_MS = 24 * 3_600_000;

/** Makes the reader of due payouts. It returns the time that its requests take of the budget. */
export const due = (
  { account, call, ledger }: ReaderOptions,
  followed: Followed,
  which: "open" | "watched",
) => {
  /** The length of a window that shows about a page. */
  let spanMs = 60_000;
  let triedAt = Number.NEGATIVE_INFINITY;
  let perRequest = 1;

  /** Reads a window around a payout, and returns the payouts that it shows. */
  const readAround = async ({ changedAt }: RecordedWrite, aheadMs: number) => {
    const middle = changedAt + aheadMs;
    const window = inWindow("create_time", { from: middle - spanMs / 2, to: middle + spanMs / 2 });
    const query = { ...window, page_num: 1, page_size: PAGE_SIZE };
    const page = await call((service) => service.listPayouts(query, LAST));
    const found = await followed.endListed(page.item_list, which);
    const count = Math.max(1, page.total_item ?? page.item_list.length);
    const fitting = spanMs * Math.max(1 / 4, Math.min(4, PAGE_SIZE / count));
    spanMs = Math.max(SHORTEST_SPAN_MS, Math.min(LONGEST_SPAN_MS, fitting));
    return found;
  };

  return async (): Promise<number> => {
    const { assumptions, ...settings } = await followed.settings();
    const perSecond = settings.perSecond * SHARES[which];
    const most = Math.max(1, Math.floor(perSecond));
    const rows = await ledger.duePayouts(account, MOST, which);
    if (rows.length === 0) return 0;
    const unread = new Map(rows.map((row) => [row.madeId ?? "", row]));
    const aheadMs = followed.aheadMs();
    const single: Array<RecordedWrite> = [];
    let requests = 0;
    let shown = 0;
    if (rows.length > most && aheadMs !== undefined && assumptions.listWindow !== "none") {
      const { now } = await ledger.state();
      for (const row of rows) {
        if (now - triedAt < RETRY_MS || requests + single.length >= most) break;
        if (!unread.has(row.madeId ?? "")) continue;
        const found = await readAround(row, aheadMs);
        requests += 1;
        for (const { isRecorded, row: one } of found) {
          unread.delete(one.madeId ?? "");
          if (isRecorded) shown += 1;
          else single.push(one);
        }
        // It is read in any case.
        if (unread.delete(row.madeId ?? "")) single.push(row);
        if (found.length < FEW) triedAt = now;
      }
    }
    const left = Math.max(0, most - requests - single.length);
    single.push(...[...unread.values()].slice(0, left));
    await followed.readPayouts(single);
    requests += single.length;
    perRequest += ((shown + single.length) / requests - perRequest) / 10;
    if (which === "open") followed.paced(perRequest);
    return (requests * 1_000) / perSecond;
  };
};
