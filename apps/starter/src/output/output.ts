import { isRecord, shownText, visibleJson, visibleLines } from "@durable-payments/client/values";
import { stripVTControlCharacters } from "node:util";
import { page } from "./pager.ts";

/** Output of a command: its answer on standard output, everything else on standard error. */
export interface Output {
  readonly json: boolean;
  /**
   * The command's answer: one JSON object, or the text for a person. Call it once.
   *
   * @param text gets the data in visible characters, and must use only those.
   */
  readonly answer: <A extends object>(data: A, text: (shown: A) => string) => void;
  /** A part of an answer that is a file, such as CSV. */
  readonly text: (text: string) => void;
  /** A part of an answer of one JSON object a line. */
  readonly lines: (data: ReadonlyArray<object>) => void;
  /** Shows an answer that is longer than the terminal by a pager. */
  isPaged: boolean;
  /** Whether the reader has closed the output: `| head`. */
  readonly isClosed: () => boolean;
  /** Whether the answer has been given. */
  answered: boolean;
  /** Lines for a person, on standard error: made of visible data, as those of `answer`. */
  readonly say: (line: string) => void;
  /** Called when the user interrupts the command. */
  onInterrupt: (() => void) | undefined;
}

// eslint-disable-next-line no-control-regex -- the escape is searched
const STYLES = /(\u001b\[\d{1,2}m)/;

/** Returns a text with its invisible characters escaped, except styles and line breaks. */
const shownLines = (text: string): string =>
  text
    .split(STYLES)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : visibleLines(part, (character) => (character === "\n" ? "\n" : undefined)),
    )
    .join("");

/**
 * Returns data for display: every text and every field name has only visible characters, on one line. A text with a line
 * break cannot look like a second line.
 */
export const visible = <A>(data: A): A => asShown(data) as A;

// The result has the shape of the argument: texts stay texts.
const asShown = (value: unknown): unknown => {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return value.map(asShown);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [shownText(name), asShown(field)]),
  );
};

/** Returns the process's own standard output and error. Nothing else writes to them. */
export const processOutput = (json: boolean): Output => ({
  json,
  answered: false,
  answer(data, text) {
    this.answered = true;
    const written = json ? visibleJson(data) : shownLines(text(visible(data)));
    if (written === "" || (this.isPaged && !json && page(`${written}\n`))) return;
    process.stdout.write(`${written}\n`);
  },
  text(written) {
    this.answered = true;
    process.stdout.write(written);
  },
  lines(data) {
    this.text(data.map((one) => `${visibleJson(one)}\n`).join(""));
  },
  isPaged: false,
  isClosed: () => process.stdout.destroyed,
  say: (line) => {
    const plain = process.stderr.isTTY ? line : stripVTControlCharacters(line);
    process.stderr.write(`${shownLines(plain)}\n`);
  },
  onInterrupt: undefined,
});
