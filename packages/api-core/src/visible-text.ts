/**
 * What shows nothing, or changes how what stands around it is shown: controls, bidi marks, zero widths, blanks other
 * than the plain one, and glyphs that are empty or unknown, though they count as letters or symbols.
 */
const UNSEEN = String.raw`[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{FFFC}\u{13441}\u{13442}\u{16FE4}\u{1D159}]--[ ]]`;

/** Marks that are drawn over or around a letter, and every other one that has no letter, or two marks below it. */
const OVERLAID = String.raw`[\p{Me}\u{334}-\u{338}\u{20D0}-\u{20FF}]|(?<=^|\p{Mn}{2}|[\p{C}\p{Z}])\p{Mn}`;

/** What is drawn over the columns of its neighbours. */
const TOO_WIDE = String.raw`[\p{Script=Cuneiform}\u{BF5}\u{BF8}\u{BF9}\u{102A}\u{2E3A}\u{2E3B}\u{A9C4}\u{A9C5}\u{FDF0}-\u{FDFF}]`;

/** What does not stand where it is as what it is. */
const INVISIBLE = new RegExp(`${UNSEEN}|${OVERLAID}|${TOO_WIDE}`, "gv");

/** The same, and the backslash of what would look like such a character written out. */
const INVISIBLE_OR_LIKE_IT = new RegExp(`${INVISIBLE.source}|\\\\(?=u\\{)`, "gv");

const writtenOut = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Write out each character of a text that shows nothing, moves the cursor, breaks the line, turns the order of
 * what is read, or is drawn over its neighbours: `\u{1b}`. What is shown then is what is there, on one line, and
 * is no command to a terminal. Two texts that differ are shown differently.
 *
 * @param text what came from outside: a file, the service, Temporal, an error
 * @returns the text in characters that a reader sees
 */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE_OR_LIKE_IT, writtenOut);

/** A row of blanks moves what stands behind it to a line or a column of its own. */
const BLANKS = / {2,}/g;

/**
 * Write a text from outside as a person is shown it: in visible characters, on one line, and where it has
 * several blanks in a row, with their number: `\u{20}×30`.
 *
 * @param text what came from outside
 * @returns the text in characters that a reader sees, none of which is far from the one before
 */
export const shownText = (text: string): string =>
  visibleText(text).replaceAll(BLANKS, (row) => ` ${writtenOut(row)}×${row.length} `);

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
