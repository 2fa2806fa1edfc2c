const LONGEST_NAME = 200;

const LONGEST_REASON = 1_000;

/** Characters that show nothing, though some of them count as letters or symbols, as U+3164 and U+2800 do. */
const SHOWS_NOTHING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

/** What a reader sees, of a text without those. */
const SHOWS = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Checks whether a text names somebody. One that shows nothing is no second person either. */
const namesSomebody = (name: unknown): name is string =>
  typeof name === "string" && SHOWS.test(name.replaceAll(SHOWS_NOTHING, ""));

const textProblem = (text: unknown, longest: number): string | undefined => {
  if (!namesSomebody(text)) return "must not be empty";
  if (text.length > longest) return `must have at most ${longest} characters`;
  return /\p{Cs}/u.test(text) ? "must have whole characters only" : undefined;
};

/** Returns what is wrong with the name under which somebody acts, if anything. */
export const nameProblem = (name: unknown): string | undefined =>
  textProblem(name, LONGEST_NAME) ??
  (/\p{Cc}/u.test(String(name)) ? "must have no control characters" : undefined);

/** Returns what is wrong with the reason that somebody gives, which may have several lines, if anything. */
export const reasonProblem = (reason: unknown): string | undefined =>
  textProblem(reason, LONGEST_REASON) ??
  (/(?![\n\r\t])\p{Cc}/u.test(String(reason)) ? "must have no control characters" : undefined);

/**
 * Checks whether two names read alike: without case, width, marks, blanks and punctuation. A name without letters and
 * digits is compared as it is written.
 */
export const isSamePerson = (a: string, b: string): boolean => comparedOf(a) === comparedOf(b);

const comparedOf = (name: string): string => {
  const plain = name.normalize("NFKD").toUpperCase().toLowerCase().replaceAll(SHOWS_NOTHING, "");
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, "") || plain.trim();
};
