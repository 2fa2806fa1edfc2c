const LONGEST_NAME = 200;

const LONGEST_REASON = 1_000;

/** What a reader sees: neither a blank nor one of the characters that show nothing. */
const SHOWS = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Check whether a text names somebody. One of blanks names nobody, so it is no second person either.
 *
 * @param name a name that was kept, or anything else.
 * @returns false for what shows nothing.
 */
export const namesSomebody = (name: unknown): name is string =>
  typeof name === "string" && SHOWS.test(name);

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

/** The same for a name however its letters are encoded, whatever their case, blanks and what shows nothing. */
const comparable = (name: string): string =>
  name
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/\s+/gu, " ")
    .trim()
    .toLowerCase();

/**
 * Check whether two names are of one person: as far as they read alike, in either case.
 *
 * @param a a name.
 * @param b another.
 * @returns true where they read alike.
 */
export const isSamePerson = (a: string, b: string): boolean => comparable(a) === comparable(b);
