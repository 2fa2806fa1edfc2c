/**
 * The names of the people who decide. Only their names distinguish two people, so a name that reads as another one is the
 * same person. A reader compares shapes and not code points: a Cyrillic а is a Latin a, and a capital I is a
 * small l. So names are compared by a skeleton as in Unicode TR39, which leaves out everything that a reader overlooks. A
 * name that mixes scripts is refused, because nobody has such a name.
 */
import { SHOWS_NOTHING } from "@durable-payments/client/values";

const LONGEST_NAME = 200;

const LONGEST_REASON = 1_000;

/** The visible characters of a text. */
const SHOWS = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Returns whether a text names a person. An invisible name is not a second person. */
const namesSomebody = (name: string): boolean => SHOWS.test(name.replaceAll(SHOWS_NOTHING, ""));

const textProblem = (given: unknown, longest: number): string | undefined => {
  const text = given ?? "";
  if (typeof text !== "string") return "must be a text";
  if (!namesSomebody(text)) return "must not be empty";
  if (text.length > longest) return `must have at most ${longest} characters`;
  return /\p{Cs}/u.test(text) ? "must not contain incomplete characters" : undefined;
};

/** Scripts with letters that look alike: nobody's name has letters of two of them. */
const LOOK_ALIKE = ["Latin", "Cyrillic", "Greek", "Armenian"];

/** Scripts in general use (Unicode TR31, table 5). Others have look-alikes that no table here has. */
const IN_USE =
  /^[\p{scx=Common}\p{scx=Inherited}\p{scx=Latin}\p{scx=Cyrillic}\p{scx=Greek}\p{scx=Armenian}\p{scx=Arabic}\p{scx=Bengali}\p{scx=Bopomofo}\p{scx=Devanagari}\p{scx=Ethiopic}\p{scx=Georgian}\p{scx=Gujarati}\p{scx=Gurmukhi}\p{scx=Han}\p{scx=Hangul}\p{scx=Hebrew}\p{scx=Hiragana}\p{scx=Kannada}\p{scx=Katakana}\p{scx=Khmer}\p{scx=Lao}\p{scx=Malayalam}\p{scx=Myanmar}\p{scx=Oriya}\p{scx=Sinhala}\p{scx=Tamil}\p{scx=Telugu}\p{scx=Thaana}\p{scx=Thai}\p{scx=Tibetan}]*$/u;

const scriptProblem = (name: string): string | undefined => {
  const letters = name.normalize("NFKD").replaceAll(/\P{L}/gu, "");
  const [one, other] = LOOK_ALIKE.filter((script) =>
    new RegExp(`\\p{Script=${script}}`, "u").test(letters),
  );
  if (other !== undefined) return `must not mix ${one} and ${other} letters`;
  return IN_USE.test(letters) ? undefined : "must have letters of a script in general use only";
};

/** Returns the fault of a person's name, if any. */
export const nameProblem = (name: unknown): string | undefined =>
  textProblem(name, LONGEST_NAME) ??
  (/\p{Cc}/u.test(String(name)) ? "must not contain control characters" : undefined) ??
  scriptProblem(String(name));

/** Returns the fault of a reason, which may have several lines, if any. */
export const reasonProblem = (reason: unknown): string | undefined =>
  textProblem(reason, LONGEST_REASON) ??
  (/(?![\n\r\t])\p{Cc}/u.test(String(reason)) ? "must not contain control characters" : undefined);

/** Each Latin letter, and the letters of other alphabets, or of its own, that are drawn like it (Unicode TR39). */
const DRAWN_ALIKE =
  "aаАαΑɑᴀ bЬВΒβʙ cсСϲϹᴄ dԁԀᴅđĐ eеЕΕε fϜք gցɡԌԍ hһҺНΗհ iіιɪıɩ IΙІӀ jјЈϳͿ kКкΚκᴋ lӏʟƖłŁ mМΜϺᴍ nΝηոռɴ oоОοσΟօՕᴏøØ pрРρΡᴘ qԛԚզ rгᴦʀ sѕЅՏꜱ tТΤᴛ uυսՍᴜ vνѵѴᴠ wԝԜѡѠաᴡ xхХχΧ yуУүҮγΥʏ zΖᴢ";

const LATIN = new Map(
  DRAWN_ALIKE.split(" ").flatMap(([latin = "", ...others]) =>
    others.map((other) => [other, latin] as const),
  ),
);

/** Letters that a keyboard without them writes with two. */
const SPELT = new Map(
  "äae öoe üue øoe åaa æae œoe þth"
    .split(" ")
    .map((spelling) => [spelling.slice(0, 1), spelling.slice(1)]),
);

const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, "") || text.trim();

const folded = (text: string): string => lettersOf(text.toUpperCase().toLowerCase());

/** Shapes that fonts draw alike within an alphabet, before the case is folded: Ian is lan, but not Lan. */
const drawn = (text: string): string =>
  lettersOf(text).replaceAll(/[I1]/g, "l").replaceAll("0", "O").replaceAll("rn", "m");

/** Each way to read a name. A name without letters and digits is read as it is written. */
const readingsOf = (name: string): ReadonlyArray<string> => {
  const shown = name.normalize("NFKD").replaceAll(SHOWS_NOTHING, "");
  const latin = Array.from(shown, (letter) => LATIN.get(letter) ?? letter).join("");
  // Letters of one case look like others than those of the other case: Β, but not β, is a B.
  const composed = shown.normalize("NFC").toLowerCase();
  const spelt = Array.from(composed, (letter) => SPELT.get(letter) ?? letter).join("");
  return [folded(shown), folded(latin), drawn(latin), folded(spelt.normalize("NFKD"))];
};

/**
 * Checks whether two names read alike: without case, width, marks, blanks and punctuation, and by the shapes of their
 * letters.
 */
export const isSamePerson = (a: string, b: string): boolean => {
  const readings = readingsOf(b);
  return readingsOf(a).some((reading, way) => reading === readings[way]);
};
