import { isRecord, visibleText } from "@durable-payments/api-core/values";
import { asCalled } from "./command-line.ts";

/** Blanks of whatever width: a row of them moves what stands behind it to a line of its own. */
const BLANKS = /\p{Zs}{2,}/gu;

const counted = (blanks: string): string => {
  const code = (blanks.codePointAt(0) ?? 0).toString(16);
  return `\\u{${code}}${blanks.length === 1 ? "" : `×${blanks.length}`}`;
};

/**
 * A text from outside as a person is shown it: in visible characters, on one line, and where it has several
 * blanks in a row, with their number: `\u{20}×30`.
 */
export const shownText = (text: string): string =>
  visibleText(text).replaceAll(BLANKS, (row) => ` ${row.replaceAll(/(.)\1*/gu, counted)} `);

/** Fields with sentences of runs and workers, which may name a command. */
const SENTENCES: ReadonlySet<string> = new Set(["message", "note", "reason"]);

/**
 * Data as a person is shown them: every text in them, and every name of a field, is of visible characters,
 * and one line. What holds a line break cannot pass for a second line.
 */
export const visible = <A>(data: A): A => asShown(data) as A;

// What it returns has the shape of what it is given: texts stay texts.
const asShown = (value: unknown): unknown => {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) return value.map(asShown);
  if (!isRecord(value) || !isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const shown = asShown(field);
      const isSentence = typeof shown === "string" && SENTENCES.has(name);
      return [shownText(name), isSentence ? asCalled(shown) : shown];
    }),
  );
};

/** Dates and the like hold no text. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
