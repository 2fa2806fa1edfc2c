import { styled, unbroken } from "./styled.ts";
import { commandOf } from "./next-operation.ts";
import { beside, wrap } from "./text.ts";
import type { View } from "@durable-payments/operations/runs";
import type { Check } from "@durable-payments/operations/doctor";

const SHOWN = {
  ok: { word: "ok", colour: "green" },
  warning: { word: "warning", colour: "yellow" },
  failed: { word: "FAILED", colour: "red" },
  skipped: { word: "skipped", colour: "yellow" },
} as const;

const WORD_WIDTH = Math.max(...Object.values(SHOWN).map(({ word }) => word.length));

const INDENT = "    ";

/** A path of a file, from the root of the file system or of a home. */
const PATH = /(?<=^|[\s(])~?\/[^\s,;)]+/g;

/** A path is not broken, so that it can be copied. */
const withWholePaths = (text: string): string => text.replaceAll(PATH, unbroken);

/** A command that is too long for a line is broken before its flags, so that it can still be copied. */
const remedyText = (remedy: string): string =>
  remedy.startsWith("temporal ")
    ? `${INDENT}${remedy.replaceAll(" --", ` \\\n${INDENT}  --`)}`
    : wrap(withWholePaths(remedy), INDENT);

/** What to do about a check that failed: a sentence, or a command. */
const remedyOf = ({ next, remedy }: Check): string | undefined => {
  if (next === undefined) return remedy;
  return next.operation === "startServer"
    ? `Set TEMPORAL_ADDRESS, or start a server on this machine: ${commandOf(next)}`
    : commandOf(next);
};

/** A check as a program reads it. */
export const checkAnswer = (check: Check) => {
  const { next: _, remedy: __, ...rest } = check;
  const remedy = remedyOf(check);
  return { ...rest, ...(remedy !== undefined && { remedy }) };
};

/** The lists of runs in the Web UI, each with its link. */
const viewsText = (views: ReadonlyArray<View>): string => {
  const linked = views.filter(({ link }) => link !== null);
  if (linked.length === 0) return "";
  // A link is not broken, so that it can be followed.
  return [
    "\n\nIn the Web UI:",
    ...linked.map(({ link, name }) => `  ${name}\n${INDENT}${link}`),
  ].join("\n");
};

/** The checks as a person reads them, with what to do about those that failed, and where to look. */
export const doctorText = ({
  checks,
  views,
}: {
  readonly checks: ReadonlyArray<Check>;
  readonly views: ReadonlyArray<View>;
}): string => {
  const nameWidth = Math.max(...checks.map(({ name }) => name.length));
  const checked = checks
    .map(checkAnswer)
    .map(({ detail, name, remedy, status }) => {
      const { colour, word } = SHOWN[status];
      const start = `${styled(colour, word.padEnd(WORD_WIDTH))}  ${name.padEnd(nameWidth)}  `;
      const line = beside(start, withWholePaths(detail), INDENT);
      if (remedy === undefined) return line;
      return `${line}\n  What to do:\n${remedyText(remedy)}`;
    })
    .join("\n");
  return `${checked}${viewsText(views)}`;
};
