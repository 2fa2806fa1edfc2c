/** Something that the service lists and that may be what was sent. */
export interface Candidate {
  /** Its id at the service. */
  readonly id: string;
  /** Whether it is certainly what this step sent: it has its key, or the journal has its id. */
  readonly isOurs: boolean;
  /** Whether it is as it was sent to the last field; otherwise it is perhaps what was sent. */
  readonly isExact: boolean;
  /** Whether one field of it is legibly another than was sent. */
  readonly differsInOne?: boolean | undefined;
  /** Whether it has a key that is none of this step's. */
  readonly hasOtherKey: boolean;
  /** Whether that key may be one of this step's after all, in another spelling. */
  readonly mayBearKey?: boolean | undefined;
  /** Whether an earlier read showed it, and this one does not. */
  readonly isMissing?: boolean | undefined;
  /** Who made it, where that is known and is not this step: another run, another step of this run. */
  readonly owner?: string | undefined;
  /** When the first read that showed it had ended: milliseconds since 1970. */
  readonly firstSeen: number;
}

/** Whether the service shows the key that was sent, as far as that is known. */
type KeyEcho =
  /** Always: whatever has no key of ours is not ours. */
  | "same"
  /** It shows other keys in place of ours. */
  | "other"
  /** It shows none. */
  | "none"
  | "unknown";

/** A read of the service's list. */
export interface ListRead {
  readonly readAt: number;
  readonly endedAt: number;
}

/** What a read of the list found. Times are milliseconds since 1970, durations milliseconds. */
export interface Evidence {
  /** What is listed and may be what was sent. */
  readonly candidates: ReadonlyArray<Candidate>;
  /** Others who may have made the like and do not know yet: other runs, other steps of this run. */
  readonly concurrentRuns: ReadonlyArray<string>;
  /** Rows of the list that cannot be read, and by what can be read of them may be what was sent. */
  readonly unreadableRows: number;
  /** How often answers of the operation showed the key that was sent, another in its place, or none. */
  readonly keyEcho: KeyEcho;
  /** When the read began. */
  readonly readAt: number;
  /** Until when the send may still be carried out. */
  readonly sendEndsAt: number;
  /** How long after it was made something may be missing from the list. */
  readonly listLagMs: number;
  /** Up to when everything that was made is listed, where that is known. */
  readonly listedUpTo?: number | undefined;
  /** How long what a run owns, or may have made, may be hidden from other runs. */
  readonly visibilityLagMs: number;
  /** How long another run may take to find out what it has made, where its answer was lost as well. */
  readonly longestDoubtMs: number;
  /** The reads for this send before this one, oldest first. */
  readonly earlierReads: ReadonlyArray<ListRead>;
  /** Why the list is no evidence, and will be none when it is read again. */
  readonly incomplete?: string | undefined;
}

/** What the evidence says of a write without an answer. */
export type Reconciliation =
  | { readonly _tag: "Found"; readonly id: string }
  /** It was not carried out, and will not be. */
  | { readonly _tag: "Absent" }
  /** It can be known later: read again at `readAgainAt` (milliseconds since 1970), or before. */
  | { readonly _tag: "Undecided"; readonly readAgainAt: number }
  /** It will not be known: a person decides. */
  | { readonly _tag: "Unclear"; readonly reason: string };

const unclear = (reason: string): Reconciliation => ({ _tag: "Unclear", reason });

/** From when on all that the send may have made is listed. It must not move with the time of the read. */
const decidedFrom = ({ listedUpTo, listLagMs, sendEndsAt }: Evidence): number =>
  listedUpTo !== undefined && listedUpTo > sendEndsAt
    ? Math.min(listedUpTo, sendEndsAt + listLagMs)
    : sendEndsAt + listLagMs;

/** What may be ours, of all that is listed. */
const countedOf = (
  { candidates, earlierReads, keyEcho }: Evidence,
  decided: number,
): ReadonlyArray<Candidate> => {
  // Where the service is known to show our keys, whatever has none of them is not ours.
  const isUnowned = ({ isOurs, mayBearKey, owner }: Candidate): boolean =>
    isOurs || (owner === undefined && (keyEcho !== "same" || mayBearKey === true));
  const unowned = candidates.filter(isUnowned);
  const alike = unowned.filter(({ differsInOne, isOurs }) => isOurs || differsInOne !== true);
  if (alike.some(({ isExact }) => isExact)) return alike;
  const allListed = earlierReads.find((read) => read.readAt >= decided)?.endedAt ?? Infinity;
  return unowned.filter(
    (candidate) => alike.includes(candidate) || candidate.firstSeen <= allListed,
  );
};

/**
 * Decide whether a send without an answer was carried out, by what the service lists. It never takes what
 * may be somebody else's, and says "absent" only where the list shows that nothing is ours.
 *
 * - What is certainly ours is ours at once; two such should not exist.
 * - All else counts from the time on at which the list shows whatever the send may have made.
 * - What others made does not count.
 * - What may be ours, and was listed and is not any more: a person has to decide.
 * - What differs in one field does not count beside one that is as it was sent: the service lists what
 *   this step made as it lists that. Alone it counts once whoever else made it would have found out;
 *   unless an earlier read that showed all that the send may have made did not show it.
 * - One that is as it was sent, and that nobody else can have made, is ours, once it has been listed
 *   for longer than what others make may be hidden.
 * - Anything else that may be ours, to the least readable row: a person has to decide.
 */
export const decideOutcome = (evidence: Evidence): Reconciliation => {
  const { candidates, incomplete, keyEcho, longestDoubtMs, readAt, concurrentRuns } = evidence;
  const { unreadableRows, visibilityLagMs } = evidence;
  const [ours, ...more] = candidates.filter(
    ({ isMissing, isOurs }) => isOurs && isMissing !== true,
  );
  if (ours !== undefined) {
    return more.length === 0
      ? { _tag: "Found", id: ours.id }
      : unclear(`${more.length + 1} with this step's key are listed.`);
  }
  if (incomplete !== undefined) return unclear(incomplete);
  const decided = decidedFrom(evidence);
  if (readAt < decided) return { _tag: "Undecided", readAgainAt: decided };
  if (unreadableRows > 0) {
    return unclear(`${unreadableRows} rows of the list cannot be read, and may be it.`);
  }
  const counted = countedOf(evidence, decided);
  const [candidate, ...others] = counted;
  if (candidate === undefined) return { _tag: "Absent" };
  // Until then another run may have made it, and not be seen to own it.
  const ownersKnownAt =
    visibilityLagMs +
    Math.max(
      decided,
      ...counted.map(
        ({ differsInOne, firstSeen }) => firstSeen + (differsInOne === true ? longestDoubtMs : 0),
      ),
    );
  if (readAt < ownersKnownAt) return { _tag: "Undecided", readAgainAt: ownersKnownAt };
  if (others.length > 0) return unclear(`${others.length + 1} are listed that may be it.`);
  if (candidate.isMissing === true) {
    return unclear("One that may be it was listed, and is not listed as such any more.");
  }
  if (candidate.differsInOne === true) {
    return unclear("One is listed that may be it: only one field is another than was sent.");
  }
  if (!candidate.isExact) {
    return unclear("One is listed that may be it, written in another way than it was sent.");
  }
  if (candidate.hasOtherKey && keyEcho !== "other") {
    return unclear("One is listed that may be it, under a key that no run knows.");
  }
  return concurrentRuns.length === 0
    ? { _tag: "Found", id: candidate.id }
    : unclear(`One is listed that may be it, or of another: ${concurrentRuns.join(", ")}.`);
};
