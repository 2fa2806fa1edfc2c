import { stripVTControlCharacters } from "node:util";

/** A block of shell in a document, and what is shown under it as its output. */
export interface Exchange {
  /** The heading under which it stands. */
  readonly heading: string;
  readonly commands: ReadonlyArray<string>;
  /** Undefined where nothing is shown. */
  readonly output: string | undefined;
}

const BLOCK =
  /^(?<heading>#{1,3} .*)$|^```sh\n(?<shell>[^]*?)^```\n(?:\n```text\n(?<output>[^]*?)^```$)?/gm;

const commandsOf = (shell: string): ReadonlyArray<string> =>
  shell
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/\s#\s.*$/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

/**
 * Read the blocks of shell of a Markdown document, each with the block of `text` that follows it.
 *
 * @param document the text of the document.
 * @returns the exchanges in their order.
 */
export const exchangesOf = (document: string): ReadonlyArray<Exchange> => {
  let heading = "";
  return [...document.matchAll(BLOCK)].flatMap(({ groups = {} }) => {
    if (groups["heading"] !== undefined) heading = groups["heading"].replace(/^#+ /, "");
    return groups["shell"] === undefined
      ? []
      : [{ heading, commands: commandsOf(groups["shell"]), output: groups["output"] }];
  });
};

/** What differs from run to run, in the order in which it is looked for. */
const VARYING: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bquestion [\da-z]+-[\da-z]+\b/g, "question <id>"],
  [/--for [\da-z]+-[\da-z]+\b/g, "--for <id>"],
  [/https?:\/\/127\.0\.0\.1:\d+\S*/g, "<address>"],
  [/\b(?:127\.0\.0\.1|localhost):\d+/g, "<address>"],
  [/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, "<id>"],
  [/\bP\d{6}-[\dA-Z]{8}\b/g, "<reference>"],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?\b/g, "<time>"],
  [/\b\d\d:\d\d(?::\d\d)?\b/g, "<time>"],
  [/\b\d+ m?s\b/g, "<duration>"],
  [/\b(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)\b ?)+/g, "<duration> "],
  [/\bworker \d+/g, "worker <process>"],
  [/\b[\da-f]{12,64}\b/g, "<hash>"],
  [/\/\S*\/\.local\/\S+/g, "<file>"],
];

/** A text without what differs from run to run, and without the breaks and widths that depend on it. */
const comparable = (text: string): string =>
  VARYING.reduce(
    (masked, [pattern, mask]) => masked.replaceAll(pattern, mask),
    stripVTControlCharacters(text).replaceAll(/\s+/g, " "),
  )
    .replaceAll(/\s+/g, " ")
    .trim();

/** Leaves out what was in progress and is not shown: what is seen of it depends on when it is read. */
const withoutOtherProgress = (printed: string, shown: string): string => {
  const linesShown = new Set(shown.split("\n").map(comparable));
  return printed
    .split("\n")
    .filter((line) => !/^\s*… \S/.test(line) || linesShown.has(comparable(line)))
    .join("\n");
};

/**
 * Check whether what was printed is what a document shows.
 *
 * @param shown the block of the document; `…` alone on a line stands for any number of lines.
 *   Lines of progress (`… createPayout creating`) may be missing from it.
 * @param printed what the command has printed.
 */
export const isAsShown = (shown: string, printed: string): boolean => {
  const parts = shown.split(/^\s*…$/m).map(comparable);
  const text = comparable(withoutOtherProgress(stripVTControlCharacters(printed), shown));
  if (parts.length === 1) return text === parts[0];
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  let from = 0;
  for (const part of parts) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return text.startsWith(first) && text.endsWith(last);
};
