import { visibleLines } from "@durable-payments/api-core/values";
import { styleText } from "node:util";

/** What styles a text on its way to a terminal; no column of it. What comes from outside cannot hold one. */
const MARKS = {
  bold: "\uFFF0",
  red: "\uFFF1",
  green: "\uFFF2",
  yellow: "\uFFF3",
  cyan: "\uFFF4",
  gray: "\uFFF5",
} as const;

type Style = keyof typeof MARKS;

const END = "\uFFF8";

/** Stands for a blank at which a line is not broken; one column. */
const UNBROKEN = "\uFDD0";

/** Colours a text on terminals that have colours. */
export const styled = (style: Style, text: string): string => `${MARKS[style]}${text}${END}`;

/** Stands before a text that is not broken; no column. */
const WHOLE = "\uFFF7";

/** A text that stands on one line, however long it is: such as a command or a link, which is copied. */
export const unbroken = (text: string): string => `${WHOLE}${text.replaceAll(" ", UNBROKEN)}`;

/** Check whether a word is one of those. */
export const isUnbroken = (word: string): boolean => word.includes(WHOLE);

/** What is sent to a terminal for each mark: nothing where it has no colours, or NO_COLOR is set. */
const codesOf = (stream: NodeJS.WriteStream): ReadonlyMap<string, string> =>
  new Map([
    ...(Object.keys(MARKS) as ReadonlyArray<Style>).map((style) => {
      const [code = ""] = styleText(style, "\0", { stream }).split("\0");
      return [MARKS[style], code] as const;
    }),
    [END, styleText("reset", "\0", { stream }).split("\0").at(0) ?? ""] as const,
    [UNBROKEN, " "] as const,
    [WHOLE, ""] as const,
    ["\n", "\n"] as const,
  ]);

/**
 * Make texts as they are written to a stream: styles and line breaks are kept, and every other character that a
 * reader does not see is written out.
 */
export const terminalTextFor = (stream: NodeJS.WriteStream): ((text: string) => string) => {
  const codes = codesOf(stream);
  return (text) => visibleLines(text, (character) => codes.get(character));
};
