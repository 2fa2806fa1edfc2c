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
 *   after it. One row with a wrong time does not decide: the last three results on each side have to agree.
 * - Recent: not created before our first send, if the service's clock runs evenly. The last results show how far it is
 *   ahead of the ledger's, at most: `create_time` less the time of their first send. The time of the record shows nothing
 *   of the kind: a result may be recorded hours after its creation, at the end of an outage.
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

/** So many witnesses count, the last ones. */
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
  const last = newestFirst(known);
  const sentAt = from ?? -Infinity;
  const endedAt = until === null || until === 0 ? Infinity : until;
  const before = last.filter(({ recordedAt }) => recordedAt < sentAt).slice(0, WITNESSES);
  if (before.length < WITNESSES) return -Infinity;
  const oldest = Math.min(...before.map(createdAt));
  const after = last.filter((row) => row.createdAt > endedAt).slice(0, WITNESSES);
  // By the service's clock as each of them shows it, at our first send.
  const shown = after.map((row) => createdAt(row) - (row.recordedAt - sentAt));
  const lowest = after.length < WITNESSES ? oldest - SET_BACK_MS : Math.min(oldest, ...shown);
  return lowest - clocks.clockSkewSeconds * 1_000;
};

/**
 * Returns how far the service's clock is ahead of the ledger's, at most; Infinity if nothing shows it. A result that was
 * sent twice shows far too much, so three others count instead: in an outage, those from before it.
 */
const aheadAtMost = (known: ReadonlyArray<KnownRow>, clocks: Clocks): number => {
  const spanOf = reader(clocks);
  const shown: Array<number> = [];
  let soon = 0;
  for (const { created, from, recordedAt } of newestFirst(known)) {
    const { latest } = spanOf(created) ?? {};
    if (from === null || latest === undefined) continue;
    shown.push(latest - from);
    if (recordedAt - from <= SOON_MS) soon += 1;
    if (soon === WITNESSES) break;
  }
  const least = shown.toSorted((one, other) => one - other).slice(0, WITNESSES);
  return least.at(-1) ?? Infinity;
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
  const recentFrom = (sent.from ?? Infinity) + aheadAtMost(known, clocks) - SOON_MS;
  return (created) => {
    const span = spanOf(created);
    if (span === undefined) return "unknown";
    if (span.latest < horizon) return "older";
    return span.earliest >= recentFrom ? "recent" : "unknown";
  };
};
