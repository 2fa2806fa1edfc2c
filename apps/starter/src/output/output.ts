import { isRecord, shownText, visibleJson, visibleLines } from "@durable-payments/api-core/values";
import { stripVTControlCharacters } from "node:util";

/** Where a command writes: its answer on standard output, all else on standard error. */
export interface Output {
  readonly json: boolean;
  /**
   * The command's answer: one JSON object, or the text for a person. Call it once.
   *
   * @param text is given the data in visible characters, so that it takes them from there alone.
   */
  readonly answer: <A extends object>(data: A, text: (shown: A) => string) => void;
  /** Whether the answer has been given. */
  answered: boolean;
  /** A line for a person, on standard error. */
  readonly say: (line: string) => void;
  /** What is to be done when the user interrupts the command. */
  onInterrupt: (() => void) | undefined;
}

// eslint-disable-next-line no-control-regex -- the escape is what is looked for
const STYLES = /(\u001b\[\d{1,2}m)/;

/** A text as it is written: styles and line breaks stay, every other character that nobody sees is written out. */
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
 * Returns data as a person is shown them: every text in them, and every name of a field, is of visible characters, and
 * one line. What holds a line break cannot pass for a second line.
 */
export const visible = <A>(data: A): A => asShown(data) as A;

// What it returns has the shape of what it is given: texts stay texts.
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
    if (written !== "") process.stdout.write(`${written}\n`);
  },
  say: (line) => {
    const plain = process.stderr.isTTY ? line : stripVTControlCharacters(line);
    process.stderr.write(`${shownLines(plain)}\n`);
  },
  onInterrupt: undefined,
});
