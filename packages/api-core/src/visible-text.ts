/** What shows nothing, or changes how what stands around it is shown: controls, bidi marks, zero widths. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{2800}]/gu;

/** The same, and the backslash of what would look like such a character written out. */
const INVISIBLE_OR_LIKE_IT = new RegExp(`${INVISIBLE.source}|\\\\(?=u\\{)`, "gu");

const writtenOut = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Write out each character of a text that shows nothing, moves the cursor, breaks the line, or turns the
 * order of what is read: `\u{1b}`. What is shown then is what is there, on one line, and is no command to a
 * terminal. Two texts that differ are shown differently.
 *
 * @param text what came from outside: a file, the service, Temporal, an error
 * @returns the text in characters that a reader sees
 */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE_OR_LIKE_IT, writtenOut);

/** Blanks of whatever width: a row of them moves what stands behind it to a line or a column of its own. */
const BLANKS = /\p{Zs}{2,}/gu;

const counted = (blanks: string): string =>
  `${writtenOut(blanks)}${blanks.length === 1 ? "" : `×${blanks.length}`}`;

/**
 * Write a text from outside as a person is shown it: in visible characters, on one line, and where it has
 * several blanks in a row, with their number: `\u{20}×30`.
 *
 * @param text what came from outside
 * @returns the text in characters that a reader sees, none of which is far from the one before
 */
export const shownText = (text: string): string =>
  visibleText(text).replaceAll(BLANKS, (row) => ` ${row.replaceAll(/(.)\1*/gu, counted)} `);

/**
 * Write out the invisible characters of a text that was put together of visible parts.
 *
 * @param text a whole output, with line breaks that belong to it
 * @param keep says what stands for a character that is meant, such as a line break; undefined for others
 * @returns the text, in which only what is kept is no visible character
 */
export const visibleLines = (
  text: string,
  keep: (character: string) => string | undefined = (character) =>
    character === "\n" ? character : undefined,
): string => text.replaceAll(INVISIBLE, (character) => keep(character) ?? writtenOut(character));

const hexUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/**
 * Write JSON in visible characters: the others are escaped, so that a reader of JSON gets them back.
 *
 * @param value what `JSON.stringify` takes, and knows how to write
 * @returns one line
 */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      hexUnit(character.charCodeAt(index)),
    ).join(""),
  );
