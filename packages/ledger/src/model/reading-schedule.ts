/**
 * When a payout is read at the service next.
 *
 * Nothing tells when a payout completes: seconds or weeks after it was made. So it is read at intervals that grow with its
 * age, a tenth of it: the outcome is noticed at most a tenth late. The times are facts of the rows, and an index finds
 * the due ones. So a reader needs no memory of the others, a restart loses nothing, and a million payouts that are not
 * due cost nothing.
 */
import type { Standing } from "./standing.ts";

const SHORTEST_MS = 1_000;

/** Longest interval, as long as the account has requests for it. */
const LONGEST_MS = 60_000;

/** Returns the milliseconds from one reading of an object to the next: a tenth of its age, within bounds. */
export const readIntervalMs = (ageMs: number, longestMs = LONGEST_MS): number =>
  Math.round(Math.max(SHORTEST_MS, Math.min(longestMs, ageMs / 10)));

/** A payout as its schedule sees it. Times are milliseconds since 1970 by the ledger's clock. */
interface Scheduled {
  readonly standing: Standing;
  /** When it was made. */
  readonly changedAt: number;
}

/** Returns when a payout is read next; null if nothing remains to be seen. */
export const nextRead = (
  { changedAt, standing }: Scheduled,
  now: number,
  longestMs?: number,
): number | null => (standing === "made" ? now + readIntervalMs(now - changedAt, longestMs) : null);
