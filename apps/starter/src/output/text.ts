import { styleText } from "node:util";
import prettyMilliseconds from "pretty-ms";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Columns of lines if there is no terminal. */
const COLUMNS = 80;

/** Narrowest column of wrapped text. */
const LEAST = 24;

type Style = "bold" | "cyan" | "gray" | "green" | "red" | "yellow";

/** Colours a text if standard output is a terminal with colours and NO_COLOR is not set. */
export const styled = (style: Style, text: string): string =>
  styleText(style, text, { stream: process.stdout });

/** Returns how many columns a line may take: all of a terminal, or as many as `COLUMNS` says. */
export const screenWidth = (): number =>
  process.stdout.columns || Math.trunc(Number(process.env["COLUMNS"])) || COLUMNS;

/** Cuts a text to a number of columns; an ellipsis takes the place of its end. */
export const shortened = (text: string, width: number): string =>
  stringWidth(text) <= width
    ? text
    : `${wrapAnsi(text, Math.max(1, width - 1), { hard: true, wordWrap: false }).split("\n")[0] ?? ""}…`;

/** Returns how many columns of a terminal a text takes. */
export const columnsOf = (text: string): number => stringWidth(text);

/** Fills a text up with blanks to a number of columns. */
export const pad = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - stringWidth(text)));

/**
 * Breaks a text between its words into lines of at most `width` columns. A longer word stays whole: the terminal breaks it, and
 * it can still be copied.
 *
 * @param indent put before each line, and part of its width.
 */
export const wrap = (text: string, indent = "", width = screenWidth()): string =>
  text
    .split("\n")
    .flatMap((line) =>
      // A text that fits is unchanged: wrap-ansi would normalise its Unicode form.
      stringWidth(line) + indent.length <= width
        ? [line]
        : wrapAnsi(line, Math.max(1, width - indent.length)).split("\n"),
    )
    .map((line) => `${indent}${line}`.trimEnd())
    .join("\n");

/** Puts a text next to its label, or below it if little room is left: also if one of its words, such as an id, needs more. */
export const beside = (start: string, text: string, width = screenWidth()): string => {
  const column = stringWidth(start);
  const least = Math.max(LEAST, ...text.split(/\s/).map((word) => stringWidth(word)));
  if (stringWidth(text) + column > width && width - column < least)
    return `${start.trimEnd()}\n${wrap(text, "    ", width)}`;
  return `${start}${wrap(text, " ".repeat(column), width).trimStart()}`.trimEnd();
};

/**
 * Prints rows in columns as wide as their widest cell; the last column is wrapped at the edge of the terminal. Empty columns
 * are left out.
 *
 * @param rows of as many cells each.
 * @param head titles of the columns, if any.
 */
export const table = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  {
    head,
    indent = "",
    width = screenWidth(),
  }: {
    readonly head?: ReadonlyArray<string>;
    readonly indent?: string;
    readonly width?: number;
  } = {},
): string => {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const shown = [...Array(count).keys()].filter((column) => rows.some((row) => row[column]));
  const all = head === undefined ? rows : [head, ...rows];
  const widths = shown.map((column) =>
    Math.max(...all.map((row) => stringWidth(row[column] ?? ""))),
  );
  return all
    .map((row, line) => {
      const cells = shown.map((column) => row[column] ?? "");
      const first = cells.slice(0, -1).map((cell, at) => pad(cell, (widths[at] ?? 0) + 2));
      const text = beside(`${indent}${first.join("")}`, cells.at(-1) ?? "", width);
      return head !== undefined && line === 0 ? styled("gray", text) : text;
    })
    .join("\n");
};

/** Prints a table below its title, after an empty line; nothing if it has no rows. */
export const section = (title: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  rows.length === 0 ? [] : ["", styled("bold", title), table(rows, { indent: "  " })];

/** Prints names and values in two columns; pairs without a value are left out. */
export const pairs = (
  rows: ReadonlyArray<readonly [name: string, value: string | false | null | undefined]>,
  indent = "  ",
): string =>
  table(
    rows.flatMap(([name, value]) => (value ? [[styled("gray", name), value]] : [])),
    { indent },
  );

/** Words an amount: `250.00 EUR`; a dash without an amount. */
export const money = (of: {
  readonly amount: string | null;
  readonly currency: string | null;
}): string => (of.amount === null ? "" : `${of.amount} ${of.currency ?? ""}`.trimEnd());

/** Words amounts by currency: `12.50 EUR, 3.00 USD`. */
export const totals = (
  amounts: ReadonlyArray<{ readonly amount: string; readonly currency: string | null }>,
): string => amounts.map(money).join(", ");

/** Words a count of things: `1 run`, `2 runs`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

const durationIn = (unitCount: number, milliseconds: number): string =>
  prettyMilliseconds(Math.max(0, milliseconds), {
    unitCount,
    secondsDecimalDigits: 0,
    hideYear: true,
  });

/** Words a length of time in one unit: `5m`, `3d`. */
export const roughly = (milliseconds: number): string => durationIn(1, milliseconds);

/** Words a length of time in two units: `1m 5s`, `3d 4h`. */
export const duration = (milliseconds: number): string => durationIn(2, milliseconds);

/** Words how long ago something was: `5m ago`. */
export const ago = (at: number | null, now: number): string =>
  at === null ? "" : `${roughly(now - at)} ago`;

/** Words a point in time to the second, UTC: `2026-11-21 03:42:04Z`. */
export const when = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace("T", " ")}Z`;

/** Prints the parts that could not be read. */
export const noteLines = (notes: ReadonlyArray<string>, indent = ""): ReadonlyArray<string> =>
  notes.map((note) => wrap(`${styled("yellow", "note")} ${note}`, indent));

/** Names a payee, with the last four characters of its account; null without one. */
export const payeeText = (of: {
  readonly payee: string | null;
  readonly payeeName: string | null;
  readonly payeeAccount: string | null;
}): string | null =>
  of.payeeName === null || of.payeeAccount === null
    ? (of.payeeName ?? of.payee)
    : `${of.payeeName} …${of.payeeAccount}`;

/** Joins lines, and lists of lines; what is not a text is left out. An empty one separates. */
export const joinedLines = (
  lines: ReadonlyArray<string | false | null | undefined | ReadonlyArray<string>>,
): string =>
  lines
    .flat()
    .filter((line) => typeof line === "string")
    .join("\n");

/** Joins the non-empty parts. */
export const joined = (parts: ReadonlyArray<string | null>, by: string): string =>
  parts.filter(Boolean).join(by);
