import { distance } from "fastest-levenshtein";

/** Shorter texts are within too many names. */
const SHORTEST_PART = 3;

/**
 * Find what was probably meant by a name that is not known: a misspelt option, a column of a file.
 *
 * @param text as it was written
 * @param known the names that there are
 * @returns the one that differs least, in any capitals and with any separators, or the only one that it is
 *   a part of; undefined where none is like it
 * @example
 * const meant = nearestName("maxAttemps", ["maxAttempts", "timeoutMs"]); // "maxAttempts"
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
