import type { JsonObject, Verdict } from "@durable-payments/ledger";
import type { Likeness } from "./match.ts";

/** Something that the service lists. */
export interface Candidate {
  readonly id: string;
  /** What is kept of it. */
  readonly result: JsonObject;
  /** What a person is shown of it. */
  readonly shown: JsonObject;
  readonly likeness: Likeness;
  /** How its key compares: `near` may be this write's in another spelling. */
  readonly key: "own" | "otherGeneration" | "near" | "other" | "none";
  /** The ledger has it as another write's. */
  readonly isOwned: boolean;
  /** It was created before this write was first sent. */
  readonly isOld: boolean;
  /** Another write whose outcome is unknown may have made it: one that time will settle, or one that it will not. */
  readonly rival: "none" | "settling" | "open";
}

/** What a reading of the list, and then of the ledger, shows. Times are milliseconds since 1970 by the ledger's clock. */
export interface Evidence {
  readonly candidates: ReadonlyArray<Candidate>;
  /** Rows without an id that can be read, and that may be what was sent. */
  readonly unreadable: number;
  /** Why the list does not add up. */
  readonly fault: string | undefined;
  /** Not later than the first page was read. */
  readonly readAt: number;
  /** From when on everything that the send may have made is listed. */
  readonly listedFrom: number;
  /** When to read again, where time helps. */
  readonly nextAt: number;
  /** Whether lists show the key that was sent. */
  readonly keysShown: "always" | "never" | "unknown";
  /** Whether the ledger knows every write since this one was first sent. */
  readonly knowsOthers: boolean;
  /** A listed row shows no key, and the ledger has it as nobody's: it may be another request of this step. */
  readonly hasUnowned: boolean;
}

const unclear = (message: string, candidates: ReadonlyArray<Candidate> = []): Verdict => ({
  is: "unclear",
  message,
  candidates: candidates.map(({ shown }) => shown),
});

/** What may be this write's: not another's, not older, and not legibly something else. */
const mayBeOurs = ({ candidates, keysShown }: Evidence): ReadonlyArray<Candidate> => {
  const some = candidates.filter(
    ({ isOld, isOwned, key, likeness }) =>
      !isOwned &&
      !isOld &&
      (key === "near" || (likeness !== "different" && keysShown !== "always")),
  );
  // Beside one that is as it was sent, one that differs in a field is another's: both are listed the same way.
  return some.some(({ likeness }) => likeness === "exact")
    ? some.filter(({ key, likeness }) => likeness !== "similar" || key === "near")
    : some;
};

/**
 * Decides what became of a send without an answer. Pure; see docs/how-it-works.md.
 *
 * - The key of this write: found, at once.
 * - The key of another generation of it: a person decides, at once.
 * - Nothing that may be this write's, in a list that adds up, read late enough: absent.
 * - One that is equal in every field, where keys are never shown and no other write can have made it: found.
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
      : unclear(`The service lists ${keyed.length} with the key of this step.`, keyed);
  }
  const earlier = candidates.find(({ isOwned, key }) => key === "otherGeneration" && !isOwned);
  if (earlier !== undefined)
    return unclear(`Another request of this step was carried out: ${earlier.id}.`, [earlier]);
  if (fault !== undefined) return later(`The list does not add up: ${fault}.`, nextAt, true);
  const counted = mayBeOurs(evidence);
  if (readAt < listedFrom) {
    return later(
      counted.length === 0 ? "It is not listed yet." : "A possible match is listed.",
      Math.min(nextAt, listedFrom),
    );
  }
  if (unreadable > 0) {
    return unclear(`${unreadable} listed rows cannot be read, and may be it.`, counted);
  }
  const [one] = counted;
  if (one === undefined)
    return evidence.hasUnowned ? { is: "absent", mayBeAnotherRequest: true } : { is: "absent" };
  if (counted.some(({ rival }) => rival === "settling")) {
    return later("Another write that may have made the possible match is being settled.", nextAt);
  }
  if (counted.length > 1) {
    return unclear(`The service lists ${counted.length} possible matches.`, counted);
  }
  if (one.likeness !== "exact") {
    return unclear("The service lists a possible match that differs from what was sent.", counted);
  }
  if (one.rival === "open") {
    return unclear("The service lists a match that another open write may have made.", counted);
  }
  if (keysShown !== "never" || one.key === "other" || one.key === "near") {
    return unclear("The service lists a match without the key of this step.", counted);
  }
  if (!knowsOthers) {
    return unclear("The service lists a match, and earlier writes may be unknown here.", counted);
  }
  return { is: "found", id: one.id, result: one.result, by: "likeness" };
};
