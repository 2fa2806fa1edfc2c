import prettyMilliseconds from "pretty-ms";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { isUnbroken } from "./styled.ts";

/** Widest line of running text, however wide the terminal is; and the width where there is no terminal. */
const WIDEST = 80;

/** Fewest columns that a text beside another one is broken into. */
const LEAST = 16;

/** How many columns there are: the terminal's own. */
export const terminalWidth = (): number => process.stdout.columns || WIDEST;

/** How many columns running text takes. */
export const textWidth = (): number => Math.min(WIDEST, terminalWidth());

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The letters of a word; a character that is written out counts as one. */
const lettersOf = (word: string): ReadonlyArray<string> =>
  word
    .split(/(\\u\{[\da-f]+\})/)
    .flatMap((part, index) =>
      index % 2 === 1 ? [part] : Array.from(graphemes.segment(part), ({ segment }) => segment),
    );

/** A word in pieces of at most `room` columns: the terminal itself would put its end on a line without indent. */
const wordPieces = (word: string, room: number): ReadonlyArray<string> => {
  const pieces = [""];
  let width = 0;
  for (const letter of lettersOf(word)) {
    const more = stringWidth(letter);
    if (width + more > room) {
      pieces.push("");
      width = 0;
    }
    pieces.push(`${pieces.pop() ?? ""}${letter}`);
    width += more;
  }
  return pieces;
};

/** A line in lines: between words, and within a word that is longer than a line, unless it is to stay whole. */
const lineParts = (line: string, room: number): ReadonlyArray<string> =>
  stringWidth(line) <= room
    ? // It is kept as it is: wrap-ansi would write its letters in another Unicode form.
      [line]
    : wrapAnsi(line, room)
        .split("\n")
        .flatMap((part) =>
          stringWidth(part) <= room || isUnbroken(part) ? [part] : wordPieces(part, room),
        );

/**
 * Break a text into lines of at most `width` columns of a terminal; what is `unbroken` stays whole.
 *
 * @param indent put before each line, and part of its width.
 */
export const wrap = (text: string, indent = "", width = textWidth()): string => {
  const room = Math.max(1, width - indent.length);
  return text
    .split("\n")
    .flatMap((line) => lineParts(line, room))
    .map((line) => `${indent}${line.trim()}`.trimEnd())
    .join("\n");
};

/** The same, with each line after the first deeper than that: none of them looks like a line of its own. */
export const wrapDeeper = (text: string, indent = "", width = textWidth()): string => {
  const wrapped = wrap(text, indent, width);
  if (!wrapped.includes("\n")) return wrapped;
  const deeper = `${indent}  `;
  return `${indent}${wrap(text, deeper, width).trimStart()}`;
};

/** An id as the service and Temporal give them, which is copied. */
const ID = /^[\w:.-]{1,64}$/;

/** A text beside what it is about, or below it where little room is left, or none for what stays in one piece. */
export const beside = (start: string, text: string, below: string): string => {
  const column = stringWidth(start);
  const fits = (part: string) => column + stringWidth(part) <= textWidth();
  const isNarrow =
    ((textWidth() - column < LEAST || ID.test(text)) && !fits(text)) ||
    (/\s/.test(text) && text.split(/\s/).some((word) => isUnbroken(word) && !fits(word)));
  return isNarrow
    ? `${start.trimEnd()}\n${wrap(text, below)}`
    : `${start}${wrap(text, " ".repeat(column)).trimStart()}`.trimEnd();
};

/** Cut a text after its last character that fits, and mark that by an ellipsis. */
export const cut = (text: string, width: number): string => {
  if (stringWidth(text) <= width) return text;
  const [start = ""] = wrapAnsi(text, width - 1, {
    hard: true,
    trim: false,
    wordWrap: false,
  }).split("\n");
  return `${start}…`;
};

/** How many columns of a terminal a text takes. */
export const columnsOf = (text: string): number => stringWidth(text);

/** Fill a text up with blanks to a number of columns. */
export const pad = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - stringWidth(text)));

/** Names and values in two columns, wrapped. */
export const columns = (
  rows: ReadonlyArray<readonly [name: string, value: string]>,
  indent = "  ",
): string => {
  const width = Math.max(0, ...rows.map(([name]) => stringWidth(name))) + 2;
  return rows
    .map(([name, value]) => beside(`${indent}${pad(name, width)}`, value, `${indent}  `))
    .join("\n");
};

/** The fields of a value as rows for {@link columns}; those of objects within it under a longer name. */
export const fieldRows = (value: unknown, within = ""): Array<readonly [string, string]> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        // What kind of object it is, to programs alone.
        .filter(([name]) => name !== "_tag")
        .flatMap(([name, field]) => fieldRows(field, within === "" ? name : `${within}.${name}`))
    : [[within, textOf(value)]];

/** A value as a person reads it. */
export const textOf = (value: unknown): string => {
  if (value === null || value === undefined || value === "") return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const durationIn = (unitCount: number, milliseconds: number): string =>
  prettyMilliseconds(Math.max(0, milliseconds), {
    unitCount,
    secondsDecimalDigits: milliseconds < 10_000 ? 1 : 0,
    hideYear: true,
  });

/** A length of time in one unit: `5m`, `3d`. */
export const roughDuration = (milliseconds: number): string => durationIn(1, milliseconds);

/** A length of time in two units: `340ms`, `1.5s`, `3d 4h`. */
export const duration = (milliseconds: number): string => durationIn(2, milliseconds);
