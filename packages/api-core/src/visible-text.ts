/**
 * Characters that show nothing, or change how their neighbours are shown: controls, bidi marks, zero widths, blanks other
 * than the plain one, and glyphs that are empty or unknown, though they count as letters or symbols.
 */
const UNSEEN = String.raw`[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}\u{FFFC}\u{13441}\u{13442}\u{16FE4}\u{1D159}]--[ ]]`;

/** Marks that are drawn over or around a letter, and other marks without a letter, or with two marks below them. */
const OVERLAID = String.raw`[\p{Me}\u{334}-\u{338}\u{20D0}-\u{20FF}]|(?<=^|\p{Mn}{2}|[\p{C}\p{Z}])\p{Mn}`;

/** Characters that are drawn over the columns of their neighbours. */
const TOO_WIDE = String.raw`[\p{Script=Cuneiform}\u{BF5}\u{BF8}\u{BF9}\u{102A}\u{2E3A}\u{2E3B}\u{A9C4}\u{A9C5}\u{FDF0}-\u{FDFF}]`;

/** All characters that are not shown as they are, in their place. */
const INVISIBLE = new RegExp(`${UNSEEN}|${OVERLAID}|${TOO_WIDE}`, "gv");

/** Returns the first character of a text that is not shown as it is; undefined if there is none. */
export const invisibleIn = (text: string): string | undefined => text.match(INVISIBLE)?.[0];

/** The same, and the backslash of what would look like such a character written out. */
const INVISIBLE_OR_LIKE_IT = new RegExp(`${INVISIBLE.source}|\\\\(?=u\\{)`, "gv");

const writtenOut = (character: string): string =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * Writes out each character of a text that a person may not see, or that changes how the text is shown: `\u{1b}`. Such a
 * character shows nothing, moves the cursor, breaks the line, turns the reading order, or is drawn over its neighbours.
 * The result is on one line, and it is not a command to a terminal. Two texts that differ are shown differently.
 *
 * @param text a text from outside: of a file, the service, Temporal, an error
 * @returns the text in characters that a reader sees
 */
export const visibleText = (text: string): string =>
  text.replaceAll(INVISIBLE_OR_LIKE_IT, writtenOut);

/** A row of blanks moves what follows it to a line or a column of its own. */
const BLANKS = / {2,}/g;

/**
 * Writes a text from outside for a person: in visible characters, on one line. Several blanks in a row are
 * written with their number: `\u{20}×30`.
 *
 * @param text what came from outside
 * @returns the text in characters that a reader sees, none of which is far from the one before
 */
export const shownText = (text: string): string =>
  visibleText(text).replaceAll(BLANKS, (row) => ` ${writtenOut(row)}×${row.length} `);

/**
 * Writes out the invisible characters of a text that was put together of visible parts.
 *
 * @param text a whole output, with line breaks that belong to it
 * @param keep says what stands for a character that is meant, such as a line break; undefined for others
 * @returns the text, whose only invisible characters are those that are kept
 */
export const visibleLines = (
  text: string,
  keep: (character: string) => string | undefined = (character) =>
    character === "\n" ? character : undefined,
): string => text.replaceAll(INVISIBLE, (character) => keep(character) ?? writtenOut(character));

const hexUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;

/**
 * Writes JSON in visible characters: the others are escaped, so that a reader of JSON gets them back.
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
