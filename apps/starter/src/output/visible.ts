import { isRecord, shownText } from "@durable-payments/api-core/values";
import { asCalled } from "./command-line.ts";

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
