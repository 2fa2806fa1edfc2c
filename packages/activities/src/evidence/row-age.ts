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
 * - Older: created long before results that were recorded before our first send. This needs only that the service's
 *   clock does not go back. It does, if summer time ends, a time zone is corrected or a fast clock is set. A day covers
 *   all of these. One row with a wrong time does not decide: the last three results have to agree.
 * - Recent: not created before our first send, if the service's clock runs evenly. The last results show how far it is
 *   ahead of the ledger's, at least: `create_time` less the time of the record.
 * - Anything else has no known age. It may be ours, and is not taken for ours: a person decides.
 *
 * The `Date` of a response proves nothing. A proxy may have written it, by another clock.
 */

/** The age of a row, compared with a send. */
export type RowAge = "older" | "recent" | "unknown";

/** A listed row that the ledger has as the result of another write. */
export interface KnownRow {
  /** Its `create_time`, as listed. */
  readonly created: unknown;
  /** The ledger had recorded its id by then: milliseconds since 1970, by the ledger's clock. */
  readonly recordedAt: number;
}

/** So many witnesses count, the last ones. */
const WITNESSES = 3;

/** The farthest that the service's clock may go back: a day, or the distance between the outermost time zones. */
const SET_BACK_MS = 26 * 3_600_000;

/**
 * Makes the function that tells the age of a row from its `create_time`.
 *
 * @param sentAt the first send, in milliseconds since 1970 by the ledger's clock; null if it is unknown.
 * @param known results of other writes in the same list.
 */
export const agesBy = (
  sentAt: number | null,
  known: ReadonlyArray<KnownRow>,
  { clockSkewSeconds, timeZone }: Pick<Assumptions, "clockSkewSeconds" | "timeZone">,
): ((created: unknown) => RowAge) => {
  // Times without an offset are all of one zone, whichever it is.
  const zone = { timeZone: timeZone === "unknown" ? "UTC" : timeZone };
  const spanOf = (time: unknown) => (typeof time === "string" ? readTime(time, zone) : undefined);
  const skew = clockSkewSeconds * 1_000;
  const createdAt = ({ created }: KnownRow) => spanOf(created)?.earliest ?? -Infinity;
  const last = known.toSorted((one, other) => other.recordedAt - one.recordedAt);
  const before = last.filter(({ recordedAt }) => recordedAt < (sentAt ?? -Infinity));
  const oldest = Math.min(...before.slice(0, WITNESSES).map(createdAt));
  const olderBefore = before.length < WITNESSES ? -Infinity : oldest - SET_BACK_MS - skew;
  const ahead = Math.max(...last.slice(0, WITNESSES).map((row) => createdAt(row) - row.recordedAt));
  const recentFrom = sentAt === null || ahead === -Infinity ? Infinity : sentAt + ahead - skew;
  return (created) => {
    const { latest } = spanOf(created) ?? {};
    if (latest === undefined) return "unknown";
    if (latest < olderBefore) return "older";
    return latest >= recentFrom ? "recent" : "unknown";
  };
};
