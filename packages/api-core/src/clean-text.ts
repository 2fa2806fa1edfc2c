import { invisibleIn } from "./visible-text.ts";

/*
 * Texts from outside: of a JSON or CSV file, a program, a command line. Two of them can look the same and be different
 * sequences of characters: macOS writes decomposed letters, Word and web pages write blanks that do not break, and a copied
 * cell ends with an invisible mark. If each way in treats them in its own way, the same payment has two ids, two keys and
 * two hashes, and is made twice. So all ways in use this file:
 *
 * - `cleanText` removes or folds what is harmless. All that follows, from the id to the request, has the cleaned text.
 * - `textFault`, `codeFault` and `keyFault` name what is not harmless, by its code point. Nobody can guess what was meant.
 * - `comparableText` is for comparisons only: it also ignores what a person would call the same.
 */

/** Format characters without a meaning of their own: soft hyphens, byte order marks, marks of direction, zero widths. */
const MEANS_NOTHING = /[\u{AD}\u{61C}\u{200B}\u{200E}\u{200F}\u{2060}\u{FEFF}]/gu;

/**
 * Removes what changes nothing in a text: characters that mean nothing, and blanks and line breaks at its ends. Other
 * blanks, such as U+00A0, become plain ones, and letters are composed (NFC).
 *
 * @param text as it came
 * @returns the text that is kept, sent and hashed; cleaned again, it is the same
 */
export const cleanText = (text: string): string =>
  text
    .replaceAll(MEANS_NOTHING, "")
    .replaceAll(/\p{Zs}/gu, " ")
    .trim()
    .normalize("NFC");

/**
 * Cleans every text of a value that came as JSON; names of fields stay as they are.
 *
 * @param value as it came
 * @returns a copy, of the same type
 */
export const cleanTexts = <A>(value: A): A => {
  const clean = (part: unknown): unknown => {
    if (typeof part === "string") return cleanText(part);
    if (Array.isArray(part)) return part.map(clean);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, clean(field)]));
  };
  // The same fields, with other texts.
  return clean(value) as A;
};

/** Characters that show nothing, though some of them count as letters or symbols, as U+3164 and U+2800 do. */
export const SHOWS_NOTHING = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

const caseless = (text: string): string => text.toUpperCase().toLowerCase();

/**
 * Returns what two texts have in common if a person would call them the same reference: in any width, composition, case
 * and length of blanks, with any dashes, and without invisible characters.
 */
export const comparableText = (text: string): string =>
  caseless(text.normalize("NFKC").replaceAll(SHOWS_NOTHING, ""))
    .normalize("NFKC")
    .replaceAll(/\p{Pd}/gu, "-")
    .replaceAll(/\s+/gu, " ")
    .trim();

/** Returns the letters and digits of a text, without case, accents and width: how names and codes are compared. */
export const lettersAndDigits = (text: string): string =>
  caseless(text.normalize("NFKD").replaceAll(SHOWS_NOTHING, "")).replaceAll(/[^\p{L}\p{N}]/gu, "");

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** A line break, in any notation that shows a text on several lines. */
const LINE_BREAK = /[\n\v\f\r\u{85}\u{2028}\u{2029}]/u;

/**
 * Characters that show nothing, and change how a text is shown or read: controls, line breaks, marks that turn the order of the
 * letters around them, and half of a character. Letters of all scripts, and the characters that join them, may be sent.
 */
const UNSENDABLE = /[\p{Cc}\p{Cs}\u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FFFD}]/u;

/** A long number as a spreadsheet shows and exports it: its last digits are lost. */
const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E[+-]\d+$/i;

/** The text in a cell without its value: a formula has failed, or the column is too narrow. */
const FAILED_CELL = /^#(?:N\/A|REF!|VALUE!|NAME\?|NUM!|DIV\/0!|NULL!|#+)$/i;

/**
 * Returns why a text of a request cannot be sent, as a sentence without its subject; undefined if it can. A bank would
 * show a control character in its own way, or refuse the payment.
 */
export const textFault = (text: string): string | undefined => {
  const found = UNSENDABLE.exec(text)?.[0];
  if (found !== undefined)
    return LINE_BREAK.test(found)
      ? `has a line break (${codePoint(found)}): write it on one line`
      : found === "\u{FFFD}"
        ? "has U+FFFD instead of a letter: save the file as UTF-8, or enter the text again"
        : `has the control character ${codePoint(found)}: remove it`;
  if (SHORTENED.test(text))
    return "is a number that a spreadsheet has shortened: format the column as text, and enter it again";
  return FAILED_CELL.test(text) ? "is the error of a spreadsheet: enter the value" : undefined;
};

/** As {@link textFault}, for account numbers and bank codes: they are ASCII, and another script's digits look alike. */
export const codeFault = (text: string): string | undefined => {
  const found = /[^ -~]/u.exec(text)?.[0];
  if (found !== undefined && textFault(found) === undefined)
    return `has the character ${codePoint(found)}: write it in ASCII letters, digits and dashes`;
  return /^\d{5,}\.0+$/.test(text)
    ? "is a number to which a program has added decimals: enter it as text"
    : textFault(text);
};

/** As {@link textFault}, for ids: also invisible characters, because two ids must not look the same. */
export const idFault = (id: string): string | undefined => {
  const found = invisibleIn(id);
  return (
    textFault(id) ??
    (found === undefined ? found : `has the invisible character ${codePoint(found)}: remove it`)
  );
};

const LONGEST_KEY = 200;

/**
 * Returns why a value cannot be the business key of a payment, wherever the key is given: in a row of a file, by a
 * workflow, on a command line.
 *
 * @param key cleaned, if it is a text
 * @returns a sentence without its subject; undefined if it can
 */
export const keyFault = (key: unknown): string | undefined => {
  if (key === undefined) return "is required: a key of its own, never used for another payment";
  if (typeof key !== "string") return "must be a string";
  if (key === "" || key.length > LONGEST_KEY || /["\\]/.test(key))
    return `must have 1 to ${LONGEST_KEY} characters, and no quotes or backslashes`;
  return idFault(key);
};
