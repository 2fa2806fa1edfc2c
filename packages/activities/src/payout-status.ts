/**
 * Determines the outcome of a payout, by the status and the times that the service shows.
 *
 * The service's document lists some statuses and does not say what they mean. A wrong guess costs money in both
 * directions: a refused payout may count as paid, and a paid one may count as refused and be paid again. So each word
 * has one source: a list of the assumptions, or else a person's decision, recorded for the account. One person cannot change
 * what a setting says. A word that neither has leaves the payout open. If the service also shows that it was completed, then
 * no further look would end that payout. So a person is asked about the word, once for the account.
 */
import {
  type Assumptions,
  isUnsetTime,
  listedMeaning,
  type Payout,
  readTime,
  redact,
} from "@durable-payments/client/effect";
import { cleanText } from "@durable-payments/client/values";
import { plainWord, type SeenOfPayout, type WordMeaning } from "@durable-payments/ledger";

/** Decisions about words of an account: lower case, trimmed. */
export type Words = ReadonlyMap<string, WordMeaning>;

/** Longest word that is kept. The service may write a sentence. A cut character becomes the one that the ledger stores. */
const LONGEST_WORD = 100;

/** Returns the zone of the service's times without an offset: UTC while it is unknown. */
export const zoneOf = ({ timeZone }: Assumptions): Pick<Assumptions, "timeZone"> => ({
  timeZone: timeZone === "unknown" ? "UTC" : timeZone,
});

/**
 * Returns whether a payout's completion time is plausible: set, not before its creation and not after the service's now,
 * each with the allowed difference of the service's own clocks. The service's now is not earlier than the times of creation and change that it shows, nor than the creation
 * and the time since then. Only if neither the ledger nor the service shows that time, our own clock does.
 */
const isCompleteAt = (
  { complete_time, create_time, update_time }: Payout,
  assumptions: Assumptions,
  knownForMs: number | undefined,
  now: number,
): boolean => {
  if (complete_time === undefined || isUnsetTime(complete_time)) return false;
  const zone = zoneOf(assumptions);
  const completed = readTime(complete_time, zone);
  if (completed === undefined) return false;
  const skew = assumptions.clockSkewSeconds * 1000;
  const created = readTime(create_time, zone)?.earliest;
  const isAfterCreation = created === undefined || completed.latest >= created - skew;
  const atLeast = created === undefined || knownForMs === undefined ? now : created + knownForMs;
  const updated = readTime(update_time, zone)?.earliest;
  const serviceNow = Math.max(atLeast, created ?? atLeast, updated ?? atLeast);
  return isAfterCreation && completed.earliest <= serviceNow + skew;
};

/**
 * Returns what a payout shows.
 *
 * @param knownForMs for how long the payout has been known, by the ledger's own clock.
 */
export const payoutStatus = (
  payout: Payout,
  assumptions: Assumptions,
  words: Words,
  knownForMs?: number,
  now = Date.now(),
): SeenOfPayout => {
  const text = redact(cleanText(payout.payout_status ?? ""));
  const word = text.slice(0, LONGEST_WORD).toWellFormed();
  const seen = { word, outcome: null, asks: false, problem: null };
  const listed = listedMeaning(word, assumptions);
  const meaning = listed ?? words.get(plainWord(word));
  if (meaning !== undefined && meaning !== "timed") {
    const outcome = meaning === "open" ? null : meaning;
    return { ...seen, outcome, isDecided: listed === undefined && outcome !== null };
  }
  const isComplete = isCompleteAt(payout, assumptions, knownForMs, now);
  if (meaning === undefined) return { ...seen, isUnlisted: true, asks: isComplete };
  return isComplete ? { ...seen, outcome: "completed" } : seen;
};
