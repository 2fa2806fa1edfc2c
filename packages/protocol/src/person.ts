import { inLatin, lettersOfSymbols } from "./look-alikes.ts";

const LONGEST_NAME = 200;

const LONGEST_REASON = 1_000;

/** Characters that show nothing, though some of them count as letters or symbols, as U+3164 and U+2800 do. */
const SHOWS_NOTHING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

/** What a reader sees, of a text without those. */
const SHOWS = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Check whether a text names somebody. One of blanks names nobody, so it is no second person either.
 *
 * @param name a name that was kept, or anything else.
 * @returns false for what shows nothing.
 */
export const namesSomebody = (name: unknown): name is string =>
  typeof name === "string" && SHOWS.test(name.replaceAll(SHOWS_NOTHING, ""));

const textProblem = (text: unknown, longest: number): string | undefined => {
  if (!namesSomebody(text)) return "must not be empty";
  if (text.length > longest) return `must have at most ${longest} characters`;
  return /\p{Cs}/u.test(text) ? "must have whole characters only" : undefined;
};

/**
 * Check the name under which somebody acts: who starts, decides, amends or ends something.
 *
 * @param name what was given, anything.
 * @returns what is wrong with it, or undefined where nothing is.
 */
export const nameProblem = (name: unknown): string | undefined =>
  textProblem(name, LONGEST_NAME) ??
  (/\p{Cc}/u.test(String(name)) ? "must have no control characters" : undefined);

/**
 * Check the reason that somebody gives; it may have several lines.
 *
 * @param reason what was given, anything.
 * @returns what is wrong with it, or undefined where nothing is.
 */
export const reasonProblem = (reason: unknown): string | undefined =>
  textProblem(reason, LONGEST_REASON) ??
  (/(?![\n\r\t])\p{Cc}/u.test(String(reason)) ? "must have no control characters" : undefined);

/** The letters and digits of a name, without marks, blanks and punctuation. */
const lettersOf = (name: string): string =>
  name
    .normalize("NFKD")
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .replaceAll(SHOWS_NOTHING, "");

/** A capital I, a small L and a one look alike, and so do a zero and an O, and two letters and a wider one. */
const asSeen = (name: string): string =>
  inLatin(lettersOf(name))
    .replaceAll(/[I1]/g, "l")
    .replaceAll("0", "O")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");

/**
 * What names are compared by: as they are written, in capitals and in small letters, since look-alikes have
 * other ones in the other case. A name without letters and digits is itself.
 */
const readings = (name: string): ReadonlyArray<string> => {
  if (lettersOf(name) === "") {
    return [name.normalize("NFKC").replaceAll(SHOWS_NOTHING, "").trim()];
  }
  const capitals = lettersOf(lettersOf(name.toUpperCase()).toUpperCase());
  return [
    asSeen(name),
    inLatin(capitals).replaceAll("1", "I").replaceAll("0", "O").toUpperCase(),
    asSeen(capitals.toLowerCase()).toLowerCase(),
  ];
};

/**
 * Check whether two names are of one person, as far as they read alike: without case, marks and punctuation,
 * and whatever script a letter is of that looks like another (the Cyrillic А and the Latin A). In doubt they
 * are: a second person then gives another name. A symbol may be a letter that it looks like or nothing
 * (`A|ice`, `Ada|`), so that names with one are compared without any such letter.
 *
 * @param a a name.
 * @param b another.
 * @returns true where they read alike.
 */
export const isSamePerson = (a: string, b: string): boolean => {
  const maybe = lettersOfSymbols(a + b);
  // A bar is read as whatever looks like it.
  const left = maybe.has("l") ? new Set([...maybe, "i", "I", "1"]) : maybe;
  const comparedOf = (name: string): ReadonlyArray<string> =>
    readings(name).map((reading) =>
      reading.replaceAll(/./gu, (letter) => (left.has(letter) ? "" : letter)),
    );
  const others = comparedOf(b);
  return comparedOf(a).some((reading, index) => reading === others[index]);
};
