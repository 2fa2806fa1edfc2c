/** Something that the service lists and that may be what was sent. */
export interface Candidate {
  /** Its id at the service. */
  readonly id: string;
  /** The `unique_request_id` that the service shows for it, where it shows one. */
  readonly key?: string | undefined;
  /** The other run that owns it, by its id or key. */
  readonly owner?: string | undefined;
}

/** What a look-up found. */
export interface Evidence {
  /** The key that was sent, for operations that have one. */
  readonly key?: string | undefined;
  readonly candidates: ReadonlyArray<Candidate>;
  /** Other runs that may have made the like and do not know yet. */
  readonly rivals: ReadonlyArray<string>;
}

/** What the evidence says of a send without an answer. */
export type Verdict =
  | { readonly _tag: "Found"; readonly id: string }
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Unclear"; readonly reason: string };

const unclear = (reason: string): Verdict => ({ _tag: "Unclear", reason });

/**
 * Whether a send without an answer was carried out, by what the service lists. It never takes what
 * may be another run's, and never says "absent" while something may be ours.
 *
 * - One with our key is ours; two with our key should not exist.
 * - What another run owns is out of the question.
 * - Something alike with a key that nobody knows, several alike, or one alike while another run may
 *   have made the like: a person has to tell.
 * - One alike without a key, and nobody else to have made it: ours.
 */
export const judge = ({ candidates, key, rivals }: Evidence): Verdict => {
  const [ours, ...more] = candidates.filter(
    (candidate) => key !== undefined && candidate.key === key,
  );
  if (ours !== undefined) {
    return more.length === 0
      ? { _tag: "Found", id: ours.id }
      : unclear(`${more.length + 1} with this run's key are listed.`);
  }
  const [candidate, ...others] = candidates.filter(({ owner }) => owner === undefined);
  if (candidate === undefined) return { _tag: "Absent" };
  if (others.length > 0) return unclear(`${others.length + 1} are listed that may be it.`);
  if (candidate.key !== undefined) {
    return unclear("One is listed that may be it, under a key that no run knows.");
  }
  return rivals.length === 0
    ? { _tag: "Found", id: candidate.id }
    : unclear(`One is listed that may be it, or of another run: ${rivals.join(", ")}.`);
};
