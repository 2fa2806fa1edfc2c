import { distance } from "fastest-levenshtein";

/** One fault of a request: the field and what is wrong with it, as a person reads it. */
export interface Fault {
  /** Name of the field; empty if the whole request is wrong. */
  readonly field: string;
  /** The fault, after the name of the field: `must not be empty`. */
  readonly problem: string;
}

/**
 * Keeps the first fault of each field: the others mostly follow from it.
 *
 * @param faults in the order in which they were found
 */
export const firstFaults = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const named = new Set<string>();
  return faults.filter(({ field }) => !named.has(field) && named.add(field));
};

/**
 * Writes faults as one text.
 *
 * @returns `<field>: <problem>; …`
 */
export const faultsText = (faults: ReadonlyArray<Fault>): string =>
  faults.map(({ field, problem }) => (field === "" ? problem : `${field}: ${problem}`)).join("; ");

/** Shorter texts are part of too many names. */
const SHORTEST_PART = 3;

/**
 * Returns the known name that is most like an unknown one, in any capitals and with any separators, or the
 * only name that contains it; undefined if no name is like it.
 */
export const nearestName = (text: string, known: ReadonlyArray<string>): string | undefined => {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[\s_-]+/g, "_");
  const wanted = plain(text);
  const [best] = known
    .map((name) => ({ name, letters: distance(wanted, plain(name)) }))
    .toSorted((a, b) => a.letters - b.letters);
  if (best !== undefined && best.letters <= Math.max(2, text.length / 3)) return best.name;
  const within = known.filter((name) => plain(name).includes(wanted));
  return wanted.length >= SHORTEST_PART && within.length === 1 ? within[0] : undefined;
};

/**
 * Hints at what was meant by unknown names: misspelled settings, options or columns.
 *
 * @param unknown the names as they were written, at least one
 * @param known the names that exist
 * @returns the end of a sentence that names the unknown ones, without its full stop
 * @example
 * const hint = didYouMean(["maxAmmounts"], ["maxAmounts"]); // " (did you mean maxAmounts?)"
 */
export const didYouMean = (
  unknown: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
): string => {
  const meant = unknown.flatMap((name) => nearestName(name, known) ?? []);
  return meant.length === 0
    ? ` (known: ${known.join(", ")})`
    : ` (did you mean ${meant.join(", ")}?)`;
};
