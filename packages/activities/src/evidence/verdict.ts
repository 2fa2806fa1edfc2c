import type { JsonObject, Verdict } from "@durable-payments/ledger";
import type { Likeness } from "./match.ts";
import type { RowAge } from "./row-age.ts";

/** A row of the service's list. */
export interface Candidate {
  readonly id: string;
  /** The part of it that is kept. */
  readonly result: JsonObject;
  /** The part of it that a person is shown. */
  readonly shown: JsonObject;
  readonly likeness: Likeness;
  /** How its key compares: `near` may be this write's in another spelling. */
  readonly key: "own" | "otherGeneration" | "near" | "other" | "none";
  /** The ledger has it as another write's. */
  readonly isOwned: boolean;
  /** Whether it was created before this write was first sent. */
  readonly age: RowAge;
  /** Another unknown write may own it: its outcome will be known in time, or will not. */
  readonly rival: "none" | "settling" | "open";
}

/** The evidence of a reading of the list, then of the ledger. Times are milliseconds since 1970 by the ledger's clock. */
export interface Evidence {
  readonly candidates: ReadonlyArray<Candidate>;
  /** Rows without a readable id that are possible matches. */
  readonly unreadable: number;
  /** Why the list does not add up. */
  readonly fault: string | undefined;
  /** Not later than the first page was read. */
  readonly readAt: number;
  /** The time from which the list shows every result of the send. */
  readonly listedFrom: number;
  /** When to read again, if time helps. */
  readonly nextAt: number;
  /** Whether lists show the key that was sent. */
  readonly keysShown: "always" | "never" | "unknown";
  /** Whether the ledger knows every write since this one was first sent. */
  readonly knowsOthers: boolean;
  /** Listed rows that show no key, and have no owner in the ledger: each may be another request of this step. */
  readonly unowned: ReadonlyArray<JsonObject>;
}

/** The ledger's clock and the one that ends a wait may differ: a reading right before the time would prove nothing. */
const CLOCKS_DIFFER_MS = 1_000;

const unclear = (message: string, candidates: ReadonlyArray<Candidate> = []): Verdict => ({
  is: "unclear",
  message,
  candidates: candidates.map(({ shown }) => shown),
});

/** The possible matches: not another's, not older, and not legibly different. */
const mayBeOurs = ({ candidates, keysShown }: Evidence): ReadonlyArray<Candidate> => {
  const some = candidates.filter(
    ({ age, isOwned, key, likeness }) =>
      !isOwned &&
      age !== "older" &&
      // If lists always show keys, another key makes a row another's. A row without one contradicts that.
      (key === "near" || (likeness !== "different" && (keysShown !== "always" || key === "none"))),
  );
  // If one row is exactly as sent, a row that differs in a field is another's: both are listed the same way.
  return some.some(({ likeness }) => likeness === "exact")
    ? some.filter(({ key, likeness }) => likeness !== "similar" || key === "near")
    : some;
};

/**
 * Decides the outcome of a send without an answer. Pure; docs/how-it-works.md explains the rules.
 *
 * - The key of this write: found, at once.
 * - The key of another generation of it: a person decides, at once.
 * - No possible match, in a list that adds up and was read late enough: absent.
 * - One possible match that is equal in every field and recent, if keys are never shown and no other write can own it:
 *   found.
 * - Anything else: a person decides.
 */
export const verdictOf = (evidence: Evidence): Verdict => {
  const { candidates, fault, keysShown, knowsOthers, listedFrom, nextAt, readAt, unreadable } =
    evidence;
  const later = (message: string, at: number, isFaulty = false): Verdict => ({
    is: "later",
    message,
    isFaulty,
    at,
  });
  const keyed = candidates.filter(({ key }) => key === "own");
  const [own] = keyed;
  if (own !== undefined) {
    return keyed.length === 1
      ? { is: "found", id: own.id, result: own.result, by: "key" }
      : unclear(`The service lists ${keyed.length} rows with the key of this step.`, keyed);
  }
  const earlier = candidates.find(({ isOwned, key }) => key === "otherGeneration" && !isOwned);
  if (earlier !== undefined)
    return unclear(`Another request of this step succeeded: ${earlier.id}.`, [earlier]);
  if (fault !== undefined) return later(`The list is inconsistent: ${fault}.`, nextAt, true);
  const counted = mayBeOurs(evidence);
  if (readAt < listedFrom) {
    return later(
      counted.length === 0 ? "It is not listed yet." : "A possible match is listed.",
      // Most results are listed at once. Readings in between would cost more than they find.
      listedFrom + CLOCKS_DIFFER_MS,
    );
  }
  if (unreadable > 0) {
    return unclear(
      `${unreadable} listed rows cannot be read, so they are possible matches.`,
      counted,
    );
  }
  const [one] = counted;
  if (one === undefined)
    return evidence.unowned.length > 0
      ? { is: "absent", others: evidence.unowned }
      : { is: "absent" };
  if (counted.some(({ rival }) => rival === "settling")) {
    return later(
      "The possible match may belong to another write, which is being reconciled.",
      nextAt,
    );
  }
  if (counted.length > 1) {
    return unclear(`The service lists ${counted.length} possible matches.`, counted);
  }
  if (one.likeness !== "exact") {
    return unclear("The service lists a possible match that differs from what was sent.", counted);
  }
  if (one.rival === "open") {
    return unclear("The service lists a match that may belong to another open write.", counted);
  }
  if (keysShown !== "never" || one.key === "other" || one.key === "near") {
    return unclear("The service lists a match without the key of this step.", counted);
  }
  if (!knowsOthers) {
    return unclear(
      "The service lists a match, but it may belong to an earlier write that this ledger does not know.",
      counted,
    );
  }
  if (one.age !== "recent") {
    return unclear(
      "The service lists a match, but nothing shows that it was made when this step was sent.",
      counted,
    );
  }
  return { is: "found", id: one.id, result: one.result, by: "likeness" };
};
