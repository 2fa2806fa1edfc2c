import { describe, expect, it } from "vitest";
import { failureOf } from "./support/activities.ts";
import {
  cardholderRow,
  type List,
  minutesAfter,
  otherRows,
  listings,
  pagesOf,
  payoutRow,
  type Row,
} from "./support/listings.ts";

const listingOf = listings();

/** A list that changes with every page that is read of it. */
const changing = (change: (reads: number) => ReadonlyArray<Row>): List => {
  let reads = 0;
  return (page_num) => {
    reads += 1;
    return pagesOf(change(reads))(page_num);
  };
};

const NEWEST_FIRST = { assumptions: { listsAreNewestFirst: true } };

const ours = payoutRow("ours", { unique_request_id: "key-1" });

/** Newest first, as it happens: from hours after the send to hours before it. */
const oneGroup = (prefix: string, changes: Row): Array<Row> =>
  Array.from({ length: 60 }, (_, i) =>
    payoutRow(`${prefix}-${i}`, {
      beneficiary_id: "beneficiary-2",
      amount: "999.00",
      create_time: minutesAfter(120 - 10 * i),
      ...changes,
    }),
  );

describe("a first page that happens to be newest first does not say how the list goes on:", () => {
  it.each([
    [
      "sorted by payment_date",
      [
        ...oneGroup("later", { payment_date: "2026-12-24" }),
        ...oneGroup("soon", { payment_date: "2026-11-21" }),
        { ...ours, payment_date: "2026-11-20" },
      ],
    ],
    [
      "grouped by status",
      [
        ...oneGroup("completed", { payout_status: "completed" }),
        ...oneGroup("funded", { payout_status: "awaiting_funds" }),
        ours,
      ],
    ],
  ])("payouts %s", async (_, rows) => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(rows));
    expect((await findPayouts()).matches).toMatchObject([{ id: "ours", isOurs: true }]);
    expect(pagesRead()).toEqual([1, 2, 3]);
  });

  it("payouts without keys, sorted by payment_date", async () => {
    const rows = [...oneGroup("later", {}), ...oneGroup("soon", {}), payoutRow("alike")];
    const { findPayouts, pagesRead } = await listingOf(pagesOf(rows));
    expect((await findPayouts()).matches).toMatchObject([{ id: "alike", isExact: true }]);
    expect(pagesRead()).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it("cardholders, the verified ones first", async () => {
    const verified = Array.from({ length: 60 }, (_, i) =>
      cardholderRow(`verified-${i}`, {
        card_holder_status: "SUCCESS",
        first_name: "Grace",
        create_time: minutesAfter(120 - 10 * i),
      }),
    );
    const { findCardholders } = await listingOf(pagesOf([...verified, cardholderRow("ours")]));
    expect((await findCardholders()).matches).toMatchObject([{ id: "ours", isExact: true }]);
  });
});

describe("a list that is assumed to be newest first", () => {
  const rows = [...otherRows(60), payoutRow("a"), ...otherRows(100, { from: -60, prefix: "old" })];

  it("is read no further than to what is too old, twice", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(rows), NEWEST_FIRST);
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "a" }]);
    expect(pagesRead()).toEqual([1, 2, 1, 2]);
  });

  it("is read to its end where nobody assumes so", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(rows));
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "a" }]);
    expect(pagesRead()).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  it("is read to its end where a row contradicts it", async () => {
    const newer = payoutRow("newer", {
      beneficiary_id: "beneficiary-2",
      amount: "999.00",
      create_time: minutesAfter(200),
    });
    const { findPayouts, pagesRead } = await listingOf(
      pagesOf([...otherRows(60), newer, ...rows.slice(61), payoutRow("last")]),
      NEWEST_FIRST,
    );
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "last" }]);
    expect(pagesRead()).toEqual([1, 2, 1, 2, 3, 4, 1, 2, 3, 4]);
  });

  it("may get new ones at its head while it is read", async () => {
    const list = changing((reads) => [
      ...otherRows(9, { from: 200, prefix: "new" }).slice(-reads),
      ...rows,
    ]);
    const { findPayouts, pagesRead } = await listingOf(list, NEWEST_FIRST);
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "a" }]);
    expect(pagesRead()).toEqual([1, 2, 1, 2]);
  });
});

describe("what is ours", () => {
  const old = otherRows(200, { from: -60, prefix: "old" });

  it("ends the search where it is found", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf([...old, ours, ...old.slice(1)]));
    expect((await findPayouts()).matches).toMatchObject([{ id: "ours", isOurs: true }]);
    expect(pagesRead()).toEqual([1, 2, 3, 4, 5]);
  });

  it("is looked for on the pages after it while they show what was made since: a second one needs a person", async () => {
    const again = { ...ours, payout_id: "again" };
    const { findPayouts, pagesRead } = await listingOf(
      pagesOf([...otherRows(30), ours, ...otherRows(49, { prefix: "more" }), again, ...old]),
    );
    const { matches } = await findPayouts();
    expect(matches.map(({ id, isOurs }) => ({ id, isOurs }))).toEqual([
      { id: "ours", isOurs: true },
      { id: "again", isOurs: true },
    ]);
    expect(pagesRead()).toEqual([1, 2, 3]);
  });

  it("found on a page of many does not say how far the list lags", async () => {
    const journal = {
      madeSince: async () => [{ id: "on-a-later-page", answeredAt: Date.now() - 600_000 }],
    };
    const { findPayouts } = await listingOf(pagesOf([ours, ...old]), { journal });
    expect(await findPayouts()).toMatchObject({ listLagMs: 180_000 });
  });
});

describe("a list that has more pages than may be read", () => {
  const assumptions = { reconciliationMaxPages: 3 };

  it("is no evidence, for good", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(otherRows(151)), { assumptions });
    expect((await findPayouts()).incomplete).toContain("listPayouts has more pages");
    expect(pagesRead()).toEqual([1, 2, 3]);
  });

  it("is evidence with one row less", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(otherRows(149)), { assumptions });
    expect((await findPayouts()).incomplete).toBeUndefined();
    expect(pagesRead()).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it("shows what is ours all the same", async () => {
    const { findPayouts } = await listingOf(pagesOf([...otherRows(120), ours, ...otherRows(80)]), {
      assumptions,
    });
    expect((await findPayouts()).matches).toMatchObject([{ id: "ours", isOurs: true }]);
  });

  it("or takes too long to read, alike", async () => {
    const { findPayouts, pagesRead } = await listingOf(pagesOf(otherRows(151)));
    const found = await findPayouts({ startToCloseTimeoutMs: -1_000 });
    expect(found.incomplete).toContain("listPayouts has more pages");
    expect(pagesRead()).toEqual([]);
  });
});

describe("a list that grows while it is read to its end is evidence", () => {
  const rows = otherRows(230);
  const added = (count: number, prefix = "new") => otherRows(count, { prefix });

  it.each<readonly [string, (reads: number) => ReadonlyArray<Row>, number]>([
    ["at its head", (reads) => [...added(reads).toReversed(), ...rows], 10],
    [
      "at its head by more than a page with every page, for a time",
      (reads) => [...added(55 * Math.min(reads, 6)).toReversed(), ...rows],
      28,
    ],
    ["at its end", (reads) => [...rows, ...added(reads)], 10],
    ["in its midst", (reads) => [...rows.slice(0, 120), ...added(reads), ...rows.slice(120)], 13],
  ])("%s", async (_, rowsAt, mostPages) => {
    const { findPayouts, pagesRead } = await listingOf(changing(rowsAt));
    const { incomplete, items } = await findPayouts();
    expect(items).toEqual([]);
    expect(incomplete).toBeUndefined();
    expect(pagesRead().length).toBeLessThanOrEqual(mostPages);
  });

  it.each<readonly [string, (reads: number) => ReadonlyArray<Row>]>([
    [
      "while one that was read is removed",
      (reads) => [...rows.slice(reads > 2 ? 1 : 0), ...added(reads > 2 ? 1 : 0)],
    ],
    [
      "at two places, of which the one grows while the other is read",
      (reads) => [
        ...added(reads).toReversed(),
        ...rows.slice(0, 120),
        ...added(reads, "midst"),
        ...rows.slice(120),
      ],
    ],
    [
      "where one moves out of sight in both readings",
      // Each reading has read the first page when the payout moves there, and leaves again after it.
      (reads) => {
        const isRead = reads % 6 > 1;
        const others = [...rows, ...added(reads)];
        const at = isRead ? 0 : 150;
        return [...others.slice(0, at), payoutRow("hidden"), ...others.slice(at)];
      },
    ],
  ])("but not %s", async (_, rowsAt) => {
    const { findPayouts } = await listingOf(changing(rowsAt));
    expect(await failureOf(findPayouts())).toMatchObject({ type: "ListDoesNotAddUp" });
  });
});
