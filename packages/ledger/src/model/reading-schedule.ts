/**
 * When a payout is read at the service next.
 *
 * Nothing tells when a payout completes: seconds or weeks after it was made. So it is read at intervals that grow with its
 * age, a tenth of it: the outcome is noticed at most a tenth late. The times are facts of the rows, and an index finds
 * the due ones. So a reader needs no memory of the others, a restart loses nothing, and a million payouts that are not
 * due cost nothing.
 *
 * Nor does anything tell that a payout failed, or was returned or reversed, after it had completed. A bank returns most
 * within days, some within weeks. So a payout with an outcome is watched for a time: it is read at ages that double, at
 * most a tenth of that time apart, and once more at its end. With 30 days: after 6, 12, 24 and 48 hours, then every three
 * days. Each outcome is watched, not only completions: the service may contradict itself.
 *
 * After that it is read once for each hint of the service about it.
 *
 * | payouts a second | watched | requests a second, one by one | in pages of 50 that are due together |
 * |---|---|---|---|
 * | 0.1 | 259,200 | 1.4 | 0.03 |
 * | 10 | 26 million | 140 | 2.8 |
 * | 100 | 259 million | 1,400 | 28 |
 *
 * More than the budget of requests is not sent: then each payout is read less often, the longest due first.
 */
import type { Standing } from "./standing.ts";

const SHORTEST_MS = 1_000;

/** Longest interval, as long as the account has requests for it. */
export const LONGEST_MS = 60_000;

/** Returns the milliseconds from one reading of an object to the next: a tenth of its age, within bounds. */
export const readIntervalMs = (ageMs: number, longestMs = LONGEST_MS): number =>
  Math.round(Math.max(SHORTEST_MS, Math.min(longestMs, ageMs / 10)));

/** How long an outcome is watched by default. */
export const WATCHED_FOR_MS = 30 * 24 * 3_600_000;

/** Readings of a watched payout are at most this part of the time apart; the first one is earlier. */
const MOST_PARTS = 10;
const FIRST_PARTS = 120;

/**
 * Returns when a payout with an outcome is read next; null if it is watched no longer. The last reading is at the end of
 * the time, or the first after it. Times are in milliseconds.
 *
 * @param outcomeAt when its outcome was seen.
 */
export const nextWatch = (outcomeAt: number, now: number, watchedForMs: number): number | null => {
  const end = outcomeAt + watchedForMs;
  if (now >= end) return null;
  const age = Math.max(0, now - outcomeAt);
  const rest = Math.max(watchedForMs / FIRST_PARTS, Math.min(watchedForMs / MOST_PARTS, age));
  return Math.round(Math.min(end, now + rest));
};

/** A payout as its schedule sees it. Times are milliseconds since 1970 by the ledger's clock. */
interface Scheduled {
  readonly standing: Standing;
  /** When it was made. */
  readonly changedAt: number;
  /** When its outcome was seen; null or undefined if it has none. */
  readonly outcomeAt?: number | null;
}

/** Returns when a payout is read next; null if nothing remains to be seen. */
export const nextRead = (
  { changedAt, outcomeAt, standing }: Scheduled,
  now: number,
  longestMs?: number,
  watchedForMs = WATCHED_FOR_MS,
): number | null => {
  if (standing === "made") return now + readIntervalMs(now - changedAt, longestMs);
  return typeof outcomeAt === "number" ? nextWatch(outcomeAt, now, watchedForMs) : null;
};
