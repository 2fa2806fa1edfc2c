import { type Assumptions, readTime } from "@durable-payments/client/effect";

/*
 * Decides whether a listed row is older than our first send. Both mistakes lose money. If our own row counts as older,
 * the list "does not show" it, and the request is sent again. If an equal payment of last month counts as ours, this
 * month's is never made.
 *
 * The obvious rule makes both mistakes: it compares the row's `create_time`, by the service's clock, with the time of
 * our send, by the ledger's. Nobody has checked that the two clocks agree. If the service's is an hour behind, each of
 * its rows is older than our send. So only times of one clock are compared, and other rows of the same list connect the
 * clocks: the results that the ledger has recorded. Such a row existed when its id was recorded, because the id was
 * answered, or read at the service, before. This holds for rows of anyone, so it does not matter how its owner was
 * determined: by answer, key, likeness or a person. It holds after a restore, too: the results in the copy were
 * recorded before every send of the new epoch. A write of an earlier epoch has no first send, so its rows have no age.
 *
 * - Older: created before the horizon of our send, the earliest time that its result may show. Results that were
 *   recorded before our first send bound it, if the service's clock does not go back. It does, if summer time ends, a
 *   time zone is corrected or a fast clock is set. A day covers all of these. If results were also called for after our
 *   send had ended, they show whether it went back, and no day is needed: it would have gone back before our send, or
 *   after it. A clock that was wrong for hours is right again later: so the next results count, and not the latest.
 *   One row with a wrong time does not decide: the nearest three results on each side have to agree.
 * - Recent: created between our first send and the end of the last one, if the service's clock was not set ahead since
 *   the last result. The nearest results show how far it is ahead of the ledger's, at most: `create_time` less the time of
 *   their first send. The time of the record shows nothing of the kind: a result may be recorded hours after its creation,
 *   at the end of an outage. If the clock was set back before our send, older rows seem to come from after it; if it was
 *   set back since, from our send. So both ends count, and the results on both sides.
 * - Anything else has no known age. It may be ours, and is not taken for ours: a person decides.
 *
 * A list that is read in a window begins at the horizon, too: what it leaves out would count as older.
 *
 * The `Date` of a response proves nothing. A proxy may have written it, by another clock.
 */

/** The age of a row, compared with a send. */
export type RowAge = "older" | "recent" | "unknown";

/** A listed row that the ledger has as the result of another write. */
export interface KnownRow {
  /** Its `create_time`, as listed. */
  readonly created: unknown;
  /** Its first send, by the ledger's clock: it was not created before. Null if that is unknown. */
  readonly from: number | null;
  /** The ledger had sent nothing of it before: milliseconds since 1970, by the ledger's clock. */
  readonly createdAt: number;
  /** The ledger had recorded its id by then. */
  readonly recordedAt: number;
}

/** When a result may have been created: from the first send until the last one has ended, by the ledger's clock. */
export interface SentWithin {
  /** Null if it is unknown. */
  readonly from: number | null;
  /** Null, or zero, if it is unknown. */
  readonly until: number | null;
}

/** So many witnesses count, the nearest ones on each side of a send. */
const WITNESSES = 3;

/** A usual result is recorded within this time of its first send, and ages of rows are that exact. */
const SOON_MS = 120_000;

/** The farthest that the service's clock may go back: a day, or the distance between the outermost time zones. */
export const SET_BACK_MS = 26 * 3_600_000;

type Clocks = Pick<Assumptions, "clockSkewSeconds" | "timeZone">;

/** Reads the `create_time` of a row. Times without an offset are all of one zone, whichever it is. */
const reader = ({ timeZone }: Clocks) => {
  const zone = { timeZone: timeZone === "unknown" ? "UTC" : timeZone };
  return (time: unknown) => (typeof time === "string" ? readTime(time, zone) : undefined);
};

/**
 * By their writes, not by when they were recorded: a window would have to begin before a payout of hours ago whose
 * outcome was recorded just now.
 */
const newestFirst = (known: ReadonlyArray<KnownRow>): ReadonlyArray<KnownRow> =>
  known.toSorted((one, other) => other.createdAt - one.createdAt);

/**
 * Returns the horizon of a send: the service shows no result of it with an earlier `create_time`.
 *
 * @param known results of other writes in the same list.
 * @returns milliseconds since 1970 by the service's clock; -Infinity if too little is known.
 */
export const horizonOf = (
  { from, until }: SentWithin,
  known: ReadonlyArray<KnownRow>,
  clocks: Clocks,
): number => {
  const spanOf = reader(clocks);
  const createdAt = ({ created }: KnownRow) => spanOf(created)?.earliest ?? -Infinity;
  const last = newestFirst(known).filter((row) => createdAt(row) > -Infinity);
  const sentAt = from ?? -Infinity;
  const endedAt = until || Infinity;
  const before = last.filter(({ recordedAt }) => recordedAt < sentAt).slice(0, WITNESSES);
  if (before.length < WITNESSES) return -Infinity;
  const oldest = Math.min(...before.map(createdAt));
  const after = last.filter((row) => row.createdAt > endedAt).slice(-WITNESSES);
  // By the service's clock as each of them shows it, at our first send.
  const shown = after.map((row) => createdAt(row) - (row.recordedAt - sentAt));
  const lowest = after.length < WITNESSES ? oldest - SET_BACK_MS : Math.min(oldest, ...shown);
  return lowest - clocks.clockSkewSeconds * 1_000;
};

/**
 * Returns how far the service's clock is ahead of the ledger's, at most, by the first of some results; undefined if
 * nothing shows it. A result that was sent twice shows far too much, so three others count instead: in an outage, those
 * from before it.
 */
const aheadAtMost = (nearest: ReadonlyArray<KnownRow>, clocks: Clocks): number | undefined => {
  const spanOf = reader(clocks);
  const shown: Array<number> = [];
  let soon = 0;
  for (const { created, from, recordedAt } of nearest) {
    const { latest } = spanOf(created) ?? {};
    if (from === null || latest === undefined) continue;
    shown.push(latest - from);
    if (recordedAt - from <= SOON_MS) soon += 1;
    if (soon === WITNESSES) break;
  }
  return shown
    .toSorted((one, other) => one - other)
    .slice(0, WITNESSES)
    .at(-1);
};

/**
 * Makes the function that tells the age of a row from its `create_time`.
 *
 * @param known results of other writes in the same list.
 */
export const agesBy = (
  sent: SentWithin,
  known: ReadonlyArray<KnownRow>,
  clocks: Clocks,
): ((created: unknown) => RowAge) => {
  const spanOf = reader(clocks);
  const horizon = horizonOf(sent, known, clocks);
  const sentAt = sent.from ?? Infinity;
  const last = newestFirst(known);
  const after = last.filter(({ createdAt }) => createdAt > sentAt).toReversed();
  // The clock may have been set since the send: the results on the side that shows it further ahead count.
  const aheadMs = Math.max(
    aheadAtMost(last.slice(after.length), clocks) ?? Infinity,
    aheadAtMost(after, clocks) ?? -Infinity,
  );
  const recentFrom = sentAt + aheadMs - SOON_MS;
  const recentUntil =
    (sent.until || Infinity) + aheadMs + SOON_MS + clocks.clockSkewSeconds * 1_000;
  return (created) => {
    const span = spanOf(created);
    if (span === undefined) return "unknown";
    if (span.latest < horizon) return "older";
    return span.earliest >= recentFrom && span.latest <= recentUntil ? "recent" : "unknown";
  };
};
