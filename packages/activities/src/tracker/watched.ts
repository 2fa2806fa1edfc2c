/**
 * Reads payouts with an outcome again, because money may come back: see reading-schedule.ts of the ledger for the times.
 *
 * Nothing lists what came back: the service's filter has no word for it. But payouts that were made within a minute are
 * mostly due together. So they are read by a window of the list, fifty for one request, and the others one by one. A list
 * may be behind: what it shows otherwise than the ledger is read by itself before it is believed. Whether the service
 * honours the window is an assumption, and only the cost depends on it.
 *
 * | payouts a second | requests a second: wanted | allowed, if the account has no rate |
 * |---|---|---|
 * | 0.1 | 1.4, one by one | 5 |
 * | 10 | 2.8 | 5 |
 * | 100 | 28: each is read less often, two or three times in all | 5 |
 */
import { inWindow, type Payout } from "@durable-payments/client/effect";
import type { RecordedWrite } from "@durable-payments/ledger";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import { LAST } from "../run-operation.ts";
import { seenPayout } from "../waits.ts";
import { type follow, type FollowOptions, isLastPage, type ReadOfPayout } from "./follow.ts";

/** Requests, in proportion to those for open payouts. */
const SHARE = 1 / 2;

/** Payouts that one turn reads at most, and those of them one by one. */
const MOST = 250;
const MOST_SINGLE = 25;

/** Payouts made with longer gaps are in windows of their own. */
const GAP_MS = 60_000;

/** The service creates a payout this long before its response is recorded, at most: others are read one by one. */
const BEFORE_MS = 60_000;

/** A page is worth its request if it shows more than one. */
const FEW = 2;

/** Dependencies of the reader of watched payouts. */
interface WatchedOptions
  extends
    Pick<FollowOptions, "account" | "call" | "ledger">,
    Pick<ReturnType<typeof follow>, "endPayouts" | "readPayouts" | "settings"> {}

/** Returns the payouts that were made one after the other, without a longer gap. */
const together = (rows: ReadonlyArray<RecordedWrite>) => {
  const groups: Array<Array<RecordedWrite>> = [];
  for (const row of rows.toSorted((one, other) => one.changedAt - other.changedAt)) {
    const group = groups.at(-1);
    const last = group?.at(-1)?.changedAt ?? Number.NEGATIVE_INFINITY;
    if (row.changedAt - last <= GAP_MS) group?.push(row);
    else groups.push([row]);
  }
  return groups;
};

/** Makes the reader of watched payouts: it returns the time that its requests take of the budget. */
export const watched =
  ({ account, call, endPayouts, ledger, readPayouts, settings }: WatchedOptions) =>
  async (): Promise<number> => {
    const rows = await ledger.duePayouts(account, MOST, "watched");
    if (rows.length === 0) return 0;
    const { assumptions, perSecond } = await settings();
    const [words, { now }] = await Promise.all([ledger.words(account), ledger.state()]);
    const unread = new Map(rows.map((row) => [row.madeId ?? "", row]));
    let requests = 0;

    const seenIn = (payout: Payout): ReadonlyArray<ReadOfPayout> => {
      const { payout_id } = payout;
      const row = unread.get(payout_id);
      if (row === undefined) return [];
      const known = { payout_id, row, knownForMs: now - row.changedAt };
      const seen = seenPayout(known, payout, assumptions, words);
      return seen.status.outcome === row.standing ? [{ row, seen }] : [];
    };

    const readWindow = async (group: ReadonlyArray<RecordedWrite>): Promise<void> => {
      const made = group.map(({ changedAt }) => changedAt);
      const from = Math.min(...made) - BEFORE_MS;
      const window = inWindow("create_time", { from, to: Math.max(...made) + BEFORE_MS });
      let shown = FEW;
      for (let page_num = 1, isLast = false; shown >= FEW && !isLast; page_num++) {
        requests += 1;
        const query = { ...window, page_num, page_size: PAGE_SIZE };
        const page = await call((service) => service.listPayouts(query, LAST));
        const read = page.item_list.flatMap(seenIn);
        for (const { row } of read) unread.delete(row.madeId ?? "");
        if (read.length > 0) await endPayouts(read);
        shown = read.length;
        isLast = isLastPage(page, page_num);
      }
    };

    if (assumptions.listWindow !== "none")
      for (const group of together(rows)) if (group.length > FEW) await readWindow(group);
    const single = [...unread.values()].slice(0, MOST_SINGLE);
    if (single.length > 0) await readPayouts(single);
    return ((requests + single.length) * 1_000) / (perSecond * SHARE);
  };
