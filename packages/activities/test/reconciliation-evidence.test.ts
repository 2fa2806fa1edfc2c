import type { Made, RecordedSend } from "@durable-payments/journal";
import { afterEach, describe, expect, it } from "vitest";
import { failureOf } from "./support/activities.ts";
import {
  type List,
  type Listing,
  minutesAfter,
  otherRows,
  listings,
  pagesOf,
  payoutRow,
  type Row,
  since,
  type startListing,
} from "./support/listings.ts";

const listingOf = listings();

const overRows = (rows: ReadonlyArray<Row>, options?: Parameters<typeof startListing>[1]) =>
  listingOf(pagesOf(rows), options);

const found = async (rows: ReadonlyArray<Row>, options?: Parameters<typeof startListing>[1]) => {
  const { findPayouts } = await overRows(rows, options);
  const { items, matches, unreadableRows } = await findPayouts();
  return { ids: items.map(({ payout_id }) => payout_id), matches, unreadableRows };
};

describe("our key identifies a payout before", () => {
  it.each([
    ["a clock that runs two hours behind", { create_time: minutesAfter(-120) }],
    ["a time that cannot be read", { create_time: "yesterday" }],
    ["a date alone", { create_time: "2026-11-20" }],
    ["its spelling", { unique_request_id: " KEY-1 " }],
    ["every other field", { amount: "1.00", beneficiary_id: "x", currency: null }],
  ])("%s", async (_, changes) => {
    const { ids, matches } = await found([
      ...otherRows(3),
      payoutRow("ours", { unique_request_id: "key-1", ...changes }),
    ]);
    expect(ids).toEqual(["ours"]);
    expect(matches).toMatchObject([{ id: "ours", isOurs: true }]);
  });

  it("the order of the list, and its page", async () => {
    const oldestFirst = [
      ...otherRows(120),
      payoutRow("ours", { unique_request_id: "key-1" }),
    ].toReversed();
    expect((await found([...oldestFirst.slice(1), oldestFirst[0]!])).matches).toMatchObject([
      { id: "ours", isOurs: true },
    ]);
  });

  it("a list that does not add up", async () => {
    const { findPayouts } = await listingOf(() => ({
      total_item: 7,
      total_page: 1,
      item_list: [payoutRow("ours", { unique_request_id: "key-1" })],
    }));
    expect((await findPayouts()).matches).toMatchObject([{ id: "ours", isOurs: true }]);
  });
});

describe("a time excludes a payout only where it is certainly too old", () => {
  it.each([
    ["2026-11-20", "a date, which may be any time of its day"],
    ["2026-11-20 11:50", "within the time by which clocks may differ"],
    ["2026-11-19", "a date, which may be a day in any zone"],
    ["2026-11-20 04:01:00", "eight hours behind UTC, without saying so"],
    ["2026-11-20T00:01:00", "the zone that is furthest behind UTC"],
    ["2026-11-21 02:01:00", "the zone that is furthest ahead of UTC"],
    ["", "no time"],
    ["20/11/26", "a time that cannot be read"],
  ])("%s: %s", async (create_time) => {
    expect((await found([payoutRow("a", { create_time })])).ids).toEqual(["a"]);
  });

  it.each(["2026-11-18", "2026-11-19 23:40:00", "2026-11-20T11:44:00Z"])(
    "%s is too old",
    async (create_time) => {
      expect((await found([payoutRow("a", { create_time })])).ids).toEqual([]);
    },
  );

  it("a clock may differ by what is assumed", async () => {
    const rows = [payoutRow("a", { create_time: minutesAfter(-20) })];
    expect((await found(rows)).ids).toEqual([]);
    expect((await found(rows, { assumptions: { clockSkewSeconds: 3_600 } })).ids).toEqual(["a"]);
  });

  it("a time without offset is read in the zone that is assumed", async () => {
    const rows = [payoutRow("a", { create_time: "2026-11-20 07:01:00" })];
    const foundIn = async (timeZone: string) =>
      (await found(rows, { assumptions: { timeZone } })).ids;
    expect(await foundIn("UTC")).toEqual([]);
    expect(await foundIn("America/New_York")).toEqual(["a"]);
  });

  it.each([
    ["dates alone", (i: number) => (i < 60 ? "2026-11-20" : "2026-11-01")],
    ["times without offset", (i: number) => minutesAfter(-i).slice(0, -1)],
    ["no times", () => ""],
    ["oldest first", (i: number) => minutesAfter(i - 200)],
    ["no order", (i: number) => minutesAfter((i * 37) % 101)],
  ])("a list with %s is read to its end, twice", async (_, timeOf) => {
    const rows = otherRows(120).map((row, i) => ({ ...row, create_time: timeOf(i) }));
    const { findPayouts, pagesRead } = await overRows([...rows, payoutRow("a")]);
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "a" }]);
    expect(pagesRead()).toEqual([1, 2, 3, 1, 2, 3]);
  });
});

describe("a payout is perhaps the one that was sent", () => {
  it.each([
    ["the reference in capitals", { payout_reference: "INVOICE 1" }],
    ["the reference trimmed", { payout_reference: " Invoice  1" }],
    ["the amount grouped", { amount: "250,00" }],
    ["an amount that cannot be read", { amount: "n/a" }],
    ["no amount", { amount: null }],
    ["no beneficiary", { beneficiary_id: null }],
    ["the currency in small letters", { currency: "usd" }],
  ])("with %s", async (_, changes) => {
    const { matches } = await found([payoutRow("a", changes)]);
    expect(matches).toMatchObject([{ id: "a", isOurs: false, isExact: false }]);
  });

  it("as it was sent, with the amount as another writing of the number", async () => {
    const { matches } = await found([payoutRow("a", { amount: "250.0" })]);
    expect(matches).toMatchObject([{ id: "a", isExact: true }]);
  });
});

describe("a list that does not add up is no evidence, and read again:", () => {
  const shifting = (): List => {
    // While it is read, a row is removed from the first page: one of the second is on no page.
    const rows = otherRows(80);
    return (page_num) => pagesOf(page_num === 1 ? rows : rows.slice(1))(page_num);
  };
  const hiding = (): List => {
    const all = otherRows(60);
    let reads = 0;
    return (page_num) => {
      reads += 1;
      const shown =
        reads > 2 ? all.filter((_, i) => i !== 55) : [...all.slice(0, 30), ...all.slice(31)];
      return pagesOf(shown)(page_num);
    };
  };
  const totalsOfThePage = (): List => {
    const rows = otherRows(120).toReversed();
    return (page_num) => {
      const item_list = rows.slice(50 * (page_num - 1), 50 * page_num);
      return { total_item: item_list.length, total_page: 1, item_list };
    };
  };
  it.each<readonly [string, List]>([
    ["item_list null", () => ({ total_item: 1, total_page: 1, item_list: null })],
    ["item_list missing", () => ({ total_item: 1, total_page: 1 })],
    ["item_list empty", () => ({ total_item: 1, total_page: 1, item_list: [] })],
    ["fewer than the total", () => ({ ...pagesOf(otherRows(2))(1), total_item: 3 })],
    ["no totals", () => ({ item_list: otherRows(2) })],
    ["the total a text", () => ({ ...pagesOf(otherRows(2))(1), total_item: "2" })],
    ["totals that count the page", totalsOfThePage()],
    ["a row removed while it is read", shifting()],
    ["a row that one reading shows and the other does not", hiding()],
  ])("%s", async (_, list) => {
    const { findPayouts } = await listingOf(list);
    const failure = await failureOf(findPayouts());
    expect(failure).toMatchObject({ type: "ListDoesNotAddUp", nonRetryable: false });
  });

  it("cardholders alike", async () => {
    const { findCardholders } = await listingOf(() => ({ total_item: 1, total_page: 1 }));
    const failure = await failureOf(findCardholders());
    expect(failure).toMatchObject({ type: "ListDoesNotAddUp", nonRetryable: false });
  });
});

describe("one row", () => {
  it("that is listed twice is one candidate", async () => {
    const rows = [...otherRows(49), payoutRow("a"), ...otherRows(3, { from: -90, prefix: "old" })];
    let reads = 0;
    const { findPayouts } = await listingOf((page_num) => {
      reads += 1;
      return pagesOf(reads === 1 ? rows : [...otherRows(1, { prefix: "new" }), ...rows])(page_num);
    });
    expect((await findPayouts()).items).toMatchObject([{ payout_id: "a" }]);
  });

  it.each([
    ["may be it", { amount: null }, 1],
    ["may be it but for one field", { beneficiary_id: "beneficiary-2" }, 1],
    [
      "is another's by what can be read of it",
      { beneficiary_id: "beneficiary-2", amount: "17.00" },
      0,
    ],
    ["is too old", { create_time: minutesAfter(-60) }, 0],
  ])("without an id that %s: %s counts as %i", async (_, changes, count) => {
    const row = payoutRow("", { payout_id: null, ...changes });
    const { ids, unreadableRows } = await found([row, payoutRow("a")]);
    expect(ids).toEqual(["a"]);
    expect(unreadableRows).toBe(count);
  });
});

/** What the journal has of a send that was carried out. */
const send = (changes: Partial<RecordedSend>): RecordedSend => ({
  workflowId: "test",
  step: "createPayout",
  number: 1,
  operation: "createPayout",
  runId: "run-1",
  payloadHash: "",
  begunAt: since,
  outcome: "carriedOut",
  ids: { payout_id: "a" },
  ...changes,
});

describe("what the journal knows", () => {
  it.each([
    ["of this step is ours", send({}), { isOurs: true, owner: undefined }],
    [
      "of another step of the run is not",
      send({ step: "payTheSecond" }),
      { isOurs: false, owner: "another send of this run" },
    ],
  ])("%s", async (_, recorded, match) => {
    const { matches } = await found([payoutRow("a")], {
      journal: { find: async () => [recorded] },
    });
    expect(matches).toMatchObject([match]);
  });

  it.each([
    ["of this step", "createPayout"],
    ["of another step of the run", "payTheSecond"],
  ])("names by an id of another kind in the answer %s is nobody's", async (_, step) => {
    const ids = { payout_id: "b", beneficiary_id: "a", short_reference: "a" };
    const { matches } = await found([payoutRow("a")], {
      journal: { find: async () => [send({ step, ids })] },
    });
    expect(matches).toMatchObject([{ id: "a", isOurs: false, owner: undefined }]);
  });

  const like = { workflowId: "run-b", payee: "beneficiary-1", amount: "250", currency: "USD" };
  const inDoubt = { outcome: "unknown", ids: {} } as const;

  it.each<[string, ReadonlyArray<RecordedSend>, ReadonlyArray<string>]>([
    ["in a run that Temporal has forgotten", [send({ ...like, ...inDoubt })], ["run-b"]],
    ["and is under way", [send({ ...like, ...inDoubt, outcome: "begun" })], ["run-b"]],
    ["in this run", [send({ ...like, ...inDoubt, workflowId: "test", step: "b" })], ["b"]],
    ["by this step", [send({ ...like, ...inDoubt, workflowId: "test" })], []],
    ["of another amount", [send({ ...like, ...inDoubt, amount: "250.10" })], []],
    ["of another currency", [send({ ...like, ...inDoubt, currency: "EUR" })], []],
    [
      "and was made anew",
      [send({ ...like, ...inDoubt }), send({ ...like, number: 2, ids: { payout_id: "b" } })],
      [],
    ],
  ])("was sent alike %s", async (_, sends, concurrentRuns) => {
    const { findPayouts } = await overRows([payoutRow("a")], {
      journal: { sendsTo: async () => sends },
    });
    expect(await findPayouts()).toMatchObject({
      matches: [{ isOurs: false, owner: undefined }],
      concurrentRuns,
    });
  });

  it("was made by a send alike is its own", async () => {
    const { findPayouts } = await overRows([payoutRow("a")], {
      journal: { sendsTo: async () => [send(like)] },
    });
    expect(await findPayouts()).toMatchObject({ matches: [{ owner: "run-b" }] });
  });

  it("was undone before this send is not what it made", async () => {
    const { matches } = await found([payoutRow("a")], {
      journal: {
        find: async () => [
          send({}),
          send({ number: 2, isUndone: true, outcome: "unknown", ids: {} }),
        ],
      },
    });
    expect(matches).toMatchObject([{ isOurs: false, owner: "another send of this run" }]);
  });

  it("by the answer to another send is not ours", async () => {
    const madeSince = async () => [{ id: "a", answeredAt: since + 60_000 }];
    const { matches } = await found([payoutRow("a")], { journal: { madeSince } });
    expect(matches).toMatchObject([{ isOurs: false, owner: "another send, by its answer" }]);
  });

  it.each([
    [{ same: 0, other: 2, none: 0 }, "other"],
    [{ same: 0, other: 0, none: 2 }, "none"],
    // That an answer shows our key does not say that the list does.
    [{ same: 2, other: 0, none: 0 }, "unknown"],
    [{ same: 1, other: 1, none: 0 }, "unknown"],
    [{ same: 0, other: 0, none: 0 }, "unknown"],
  ])("of the echo of keys, %j, makes %s", async (echo, keyEcho) => {
    const journal = { keyEcho: async () => echo };
    const { findPayouts } = await overRows([], { journal });
    expect(await findPayouts()).toMatchObject({ keyEcho });
  });

  it("of the echo of keys does not count where it is assumed", async () => {
    const journal = { keyEcho: async () => ({ same: 0, other: 2, none: 0 }) };
    const { findPayouts } = await overRows([], { journal, assumptions: { payoutKeyEcho: "same" } });
    expect(await findPayouts()).toMatchObject({ keyEcho: "same" });
  });
});

describe("how far a list lags", () => {
  const noted: Array<number> = [];
  const journalOf = (made: ReadonlyArray<Made>, known = 0) => ({
    madeSince: async () => made,
    listLag: async () => known,
    noteListLag: async (_: string, lagMs: number) => void noted.push(lagMs),
  });
  afterEach(() => void noted.splice(0));
  const warnings = (logged: Listing["logged"]) => logged.filter(({ level }) => level === "WARN");

  it("is what is assumed where nothing else was seen", async () => {
    const { findPayouts, logged } = await overRows([payoutRow("a")], {
      journal: journalOf([{ id: "a", answeredAt: Date.now() - 900_000 }]),
    });
    expect(await findPayouts()).toMatchObject({ listLagMs: 180_000 });
    expect(noted).toEqual([]);
    expect(warnings(logged)).toEqual([]);
  });

  it("is longer, with a warning, where something that was made is not listed yet", async () => {
    const { findPayouts, logged } = await overRows([], {
      journal: journalOf([{ id: "a", answeredAt: Date.now() - 600_000 }]),
    });
    const { incomplete, listLagMs } = await findPayouts();
    expect(listLagMs).toBeGreaterThanOrEqual(900_000);
    expect(listLagMs).toBeLessThan(960_000);
    expect(incomplete).toBeUndefined();
    expect(noted.map((lagMs) => Math.floor(lagMs / 60_000))).toEqual([10]);
    expect(warnings(logged)).toMatchObject([{ level: "WARN", meta: { list: "listPayouts" } }]);
  });

  it("is never shorter than it was ever seen, nor than what is assumed", async () => {
    const { findPayouts } = await overRows([], { journal: journalOf([], 1_000_000) });
    expect(await findPayouts()).toMatchObject({ listLagMs: 1_500_000 });
    const short = await overRows([], { journal: journalOf([], 1_000) });
    expect(await short.findPayouts()).toMatchObject({ listLagMs: 180_000 });
  });

  it("is not taken from a cardholder who was removed: one made later is listed", async () => {
    const removed = { id: "removed", answeredAt: Date.now() - 600_000 };
    const later = { id: "later", answeredAt: Date.now() - 300_000 };
    const row = { card_holder_id: "later", first_name: "Grace", last_name: "Hopper" };
    const journal = journalOf([removed, later]);
    const { findCardholders } = await overRows([row], { journal });
    expect(await findCardholders()).toMatchObject({ listLagMs: 180_000 });
    expect(noted).toEqual([]);
    // A payout is not removed.
    const payouts = await overRows([payoutRow("later")], { journal });
    expect((await payouts.findPayouts()).listLagMs).toBeGreaterThanOrEqual(900_000);
  });

  it("is no lag any more where something is missing for hours: the list is no evidence", async () => {
    const { findPayouts } = await overRows([], {
      journal: journalOf([{ id: "a", answeredAt: Date.now() - 2 * 3_600_000 }]),
    });
    expect((await findPayouts()).incomplete).toContain("does not show 1");
    expect(noted).toEqual([]);
  });

  it("matters no more up to what is listed, only where lists are assumed to be monotone", async () => {
    const answeredAt = Date.now() - 100_000;
    const journal = journalOf([{ id: "a", answeredAt }]);
    const { findPayouts } = await overRows([payoutRow("a")], { journal });
    expect(await findPayouts()).not.toHaveProperty("listedUpTo");
    const monotone = await overRows([payoutRow("a")], {
      journal,
      assumptions: { listsAreMonotone: true },
    });
    expect(await monotone.findPayouts()).toMatchObject({ listedUpTo: answeredAt - 30_000 });
  });
});

it("reads by the time of creation only where the range filters are assumed to be right", async () => {
  const queries: Array<URLSearchParams> = [];
  const list: List = (page_num, query) => {
    queries.push(query);
    return pagesOf([])(page_num);
  };
  const { findPayouts } = await listingOf(list);
  await findPayouts();
  expect(queries[0]?.has("date_type")).toBe(false);
  const ranged = await listingOf(list, { assumptions: { reconcileByTimeRange: true } });
  await ranged.findPayouts();
  expect(queries[1]?.get("date_type")).toBe("create_time");
  expect(Number(queries[1]?.get("start_time"))).toBe(since - 900_000);
  expect(Number(queries[1]?.get("end_time"))).toBeGreaterThan(Date.now());
});

it("says of many alike first what decides", async () => {
  const rows = Array.from({ length: 150 }, (_, i) => payoutRow(`made-${i}`));
  const madeSince = async () =>
    rows.map(({ payout_id }) => ({ id: String(payout_id), answeredAt: since }));
  const { matches } = await found([...rows, payoutRow("unowned")], { journal: { madeSince } });
  expect(matches).toHaveLength(100);
  expect(matches[0]).toMatchObject({ id: "unowned", owner: undefined });
});

describe("of very many that may be it", () => {
  const similar = (count: number) =>
    Array.from({ length: count }, (_, i) => payoutRow(`similar-${i}`, { amount: "17.00" }));

  it("says first those that are as they were sent, then near ones, and asks for the owners of no more than it says", async () => {
    const rows = [
      ...similar(250),
      payoutRow("near", { payout_reference: "INVOICE 1" }),
      payoutRow("exact"),
    ];
    const { findPayouts, queries } = await overRows(rows);
    const { matches } = await findPayouts();
    expect(matches).toHaveLength(100);
    expect(matches.slice(0, 3)).toMatchObject([
      { id: "exact", isExact: true },
      { id: "near", isExact: false },
      { id: "similar-0", isExact: false, differsInOne: true },
    ]);
    expect(queries.length).toBeLessThanOrEqual(201);
  });

  it("keeps of a list that does not add up first those that are as they were sent", async () => {
    const { findPayouts, heartbeats } = await listingOf((page_num) => ({
      ...pagesOf([...similar(120), payoutRow("exact")])(page_num),
      total_item: 122,
    }));
    await failureOf(findPayouts());
    const { seen } = heartbeats.at(-1) as { readonly seen: ReadonlyArray<Row> };
    expect(seen).toHaveLength(100);
    expect(seen[0]).toMatchObject({ payout_id: "exact" });
  });
});

describe("what was seen to be listed, and is not any more", () => {
  const seenOnce = async (options?: Parameters<typeof startListing>[1]) => {
    const { findPayouts } = await overRows([payoutRow("a")], options);
    const { items } = await findPayouts();
    return items;
  };

  it("by an earlier reconciliation, is said to be missing", async () => {
    const seen = await seenOnce();
    const { findPayouts } = await overRows([]);
    const { items, matches } = await findPayouts({}, seen);
    expect(items).toMatchObject([{ payout_id: "a" }]);
    expect(matches).toMatchObject([{ id: "a", isExact: true, isMissing: true, owner: undefined }]);
  });

  it("is not missing where it is still listed", async () => {
    const seen = await seenOnce();
    const { findPayouts } = await overRows([payoutRow("a")]);
    const { matches } = await findPayouts({}, seen);
    expect(matches).toHaveLength(1);
    expect(matches[0]).not.toHaveProperty("isMissing");
  });

  it("is missing where it is listed as something else", async () => {
    const seen = await seenOnce();
    const { findPayouts } = await overRows([payoutRow("a", { amount: "17.00" })]);
    expect((await findPayouts({}, seen)).matches).toMatchObject([{ id: "a", isMissing: true }]);
  });

  it("is said to be of whom it is since known to be", async () => {
    const seen = await seenOnce();
    const madeSince = async () => [{ id: "a", answeredAt: since }];
    const { findPayouts } = await overRows([], { journal: { madeSince } });
    const [match] = (await findPayouts({}, seen)).matches;
    expect(match).toMatchObject({ id: "a", isMissing: true });
    expect(match?.owner).toBeDefined();
  });

  it.each([
    ["a list that does not add up", { total_item: 2, total_page: 1 }],
    ["another page than the second reading", { total_item: 51, total_page: 2 }],
  ])("by an attempt over %s, is known to the next attempt", async (_, totals) => {
    const rows = otherRows(50);
    let pages = 0;
    const { findPayouts, heartbeats } = await listingOf((page_num) => {
      pages += 1;
      if (totals.total_page === 1) return { ...totals, item_list: [payoutRow("a")] };
      return page_num === 1
        ? { ...totals, item_list: rows }
        : {
            ...totals,
            item_list: [pages < 3 ? payoutRow("a") : otherRows(1, { prefix: "new" })[0]],
          };
    });
    await failureOf(findPayouts());
    const next = await overRows([]);
    const { matches } = await next.findPayouts({
      attempt: 2,
      heartbeatDetails: heartbeats.at(-1),
    });
    expect(matches).toMatchObject([{ id: "a", isMissing: true }]);
  });
});

describe("a reconciliation whose worker was lost", () => {
  const rows = [...otherRows(148), payoutRow("a")];

  it("goes on with the page after the last one that was read", async () => {
    const first = await overRows(rows);
    const whole = await first.findPayouts();
    const afterTwoPages = first.heartbeats[1];
    const second = await overRows(rows);
    const resumed = await second.findPayouts({ attempt: 2, heartbeatDetails: afterTwoPages });
    expect(second.pagesRead()).toEqual([3, 1, 2, 3]);
    expect(resumed.matches).toEqual(whole.matches);
  });

  it("begins anew where what was read did not add up", async () => {
    const { findPayouts, heartbeats } = await listingOf(() => ({ total_item: 2, total_page: 1 }));
    await failureOf(findPayouts());
    const again = await overRows([payoutRow("a")]);
    const details = heartbeats.at(-1);
    expect((await again.findPayouts({ attempt: 2, heartbeatDetails: details })).items).toHaveLength(
      1,
    );
  });
});
