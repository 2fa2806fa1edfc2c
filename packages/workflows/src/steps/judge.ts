/** Something that the service lists and that may be what was sent. */
export interface Candidate {
  /** Its id at the service. */
  readonly id: string;
  /** Whether it is certainly what this step sent: it bears its key, or the journal has its id. */
  readonly isOurs: boolean;
  /** Whether it is as it was sent to the last field; otherwise it is perhaps what was sent. */
  readonly isExact: boolean;
  /** Whether it bears a key that is none of this step's. */
  readonly hasOtherKey: boolean;
  /** Whether an earlier look showed it, and this one does not. */
  readonly isMissing?: boolean | undefined;
  /** Who made it, where that is known and is not this step: another run, another step of this run. */
  readonly owner?: string | undefined;
  /** When the first look that showed it had ended: milliseconds since 1970. */
  readonly firstSeen: number;
}

/** Whether the service shows the key that was sent, as far as that is known. */
export type KeyEcho =
  /** Always: whatever bears no key of ours is not ours. */
  | "same"
  /** It shows keys of its own in place of ours. */
  | "other"
  /** It shows none. */
  | "none"
  | "unknown";

/** What a look-up found. Times are milliseconds since 1970, durations milliseconds. */
export interface Evidence {
  readonly candidates: ReadonlyArray<Candidate>;
  /** Others who may have made the like and do not know yet: other runs, other steps of this run. */
  readonly rivals: ReadonlyArray<string>;
  /** Rows of the list that cannot be read, and by what can be read of them may be what was sent. */
  readonly unreadableRows: number;
  readonly keyEcho: KeyEcho;
  /** When the look began. */
  readonly lookedAt: number;
  /** Until when the send may still be carried out. */
  readonly sendEndsAt: number;
  /** How long after it was made something may be missing from the list. */
  readonly listLagMs: number;
  /** Up to when everything that was made is listed, where that is known. */
  readonly listedUpTo?: number | undefined;
  /** How long what a run owns, or may have made, may be hidden from other runs. */
  readonly visibilityLagMs: number;
  /** Why the list is no evidence, and will be none in another look. */
  readonly incomplete?: string | undefined;
}

/** What the evidence says of a send without an answer. */
export type Verdict =
  | { readonly _tag: "Found"; readonly id: string }
  /** It was not carried out, and will not be. */
  | { readonly _tag: "Absent" }
  /** It can be known later: look again at `lookAgainAt` (milliseconds since 1970), or before. */
  | { readonly _tag: "Undecided"; readonly lookAgainAt: number }
  /** It will not be known: a person decides. */
  | { readonly _tag: "Unclear"; readonly reason: string };

const unclear = (reason: string): Verdict => ({ _tag: "Unclear", reason });

/** From when on all that the send may have made is listed. It must not move with the time of the look. */
const decidedFrom = ({ listedUpTo, listLagMs, sendEndsAt }: Evidence): number =>
  listedUpTo !== undefined && listedUpTo > sendEndsAt
    ? Math.min(listedUpTo, sendEndsAt + listLagMs)
    : sendEndsAt + listLagMs;

/**
 * Whether a send without an answer was carried out, by what the service lists. It never takes what
 * may be somebody else's, and says "absent" only where the list shows that nothing is ours.
 *
 * - What is certainly ours is ours at once; two such should not exist.
 * - All else counts from the time on at which the list shows whatever the send may have made.
 * - What others made is out of the question.
 * - What may be ours, and was listed and is not any more: a person has to tell.
 * - One that is as it was sent, and that nobody else can have made, is ours, once it has been listed
 *   for longer than what others make may be hidden.
 * - Anything else that may be ours, to the least readable row: a person has to tell.
 */
export const judge = (evidence: Evidence): Verdict => {
  const { candidates, incomplete, keyEcho, lookedAt, rivals, unreadableRows, visibilityLagMs } =
    evidence;
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
  if (lookedAt < decided) return { _tag: "Undecided", lookAgainAt: decided };
  if (unreadableRows > 0) {
    return unclear(`${unreadableRows} rows of the list cannot be read, and may be it.`);
  }
  // Where the service is known to show our keys, whatever bears none of them is not ours.
  const unowned = candidates.filter(
    ({ isOurs, owner }) => isOurs || (owner === undefined && keyEcho !== "same"),
  );
  const [candidate, ...others] = unowned;
  if (candidate === undefined) return { _tag: "Absent" };
  // Until then another run may have made it, and not be seen to own it.
  const claimed = Math.max(decided, ...unowned.map(({ firstSeen }) => firstSeen)) + visibilityLagMs;
  if (lookedAt < claimed) return { _tag: "Undecided", lookAgainAt: claimed };
  if (others.length > 0) return unclear(`${others.length + 1} are listed that may be it.`);
  if (candidate.isMissing === true) {
    return unclear("One that may be it was listed, and is not listed as such any more.");
  }
  if (!candidate.isExact) {
    return unclear("One is listed that may be it, written in another way than it was sent.");
  }
  if (candidate.hasOtherKey && keyEcho !== "other") {
    return unclear("One is listed that may be it, under a key that no run knows.");
  }
  return rivals.length === 0
    ? { _tag: "Found", id: candidate.id }
    : unclear(`One is listed that may be it, or of another: ${rivals.join(", ")}.`);
};
