/** The names and reasons of the people who decide. */

const LONGEST_NAME = 200;

const LONGEST_REASON = 1_000;

/** Characters that show nothing, though some of them count as letters or symbols, as U+3164 and U+2800 do. */
const SHOWS_NOTHING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

/** The visible characters of a text. */
const SHOWS = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Returns whether a text names somebody. An invisible name is not a second person. */
const namesSomebody = (name: unknown): name is string =>
  typeof name === "string" && SHOWS.test(name.replaceAll(SHOWS_NOTHING, ""));

const textProblem = (text: unknown, longest: number): string | undefined => {
  if (!namesSomebody(text)) return "must not be empty";
  if (text.length > longest) return `must have at most ${longest} characters`;
  return /\p{Cs}/u.test(text) ? "must not contain incomplete characters" : undefined;
};

/** Returns the fault of a person's name, if any. */
export const nameProblem = (name: unknown): string | undefined =>
  textProblem(name, LONGEST_NAME) ??
  (/\p{Cc}/u.test(String(name)) ? "must not contain control characters" : undefined);

/** Returns the fault of a reason, which may have several lines, if any. */
export const reasonProblem = (reason: unknown): string | undefined =>
  textProblem(reason, LONGEST_REASON) ??
  (/(?![\n\r\t])\p{Cc}/u.test(String(reason)) ? "must not contain control characters" : undefined);

/**
 * Checks whether two names read alike: without case, width, marks, blanks and punctuation. A name without letters and
 * digits is compared as it is written.
 */
export const isSamePerson = (a: string, b: string): boolean => comparedOf(a) === comparedOf(b);

const comparedOf = (name: string): string => {
  const plain = name.normalize("NFKD").toUpperCase().toLowerCase().replaceAll(SHOWS_NOTHING, "");
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, "") || plain.trim();
};
