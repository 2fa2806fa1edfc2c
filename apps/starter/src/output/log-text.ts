import { decisionText, type RunLog } from "@durable-payments/control/show";
import { wordsOf } from "./run-text.ts";
import { beside, joined, joinedLines, styled, when } from "./text.ts";

const logLine = (line: RunLog["lines"][number], names: RunLog["names"]): string => {
  const start = `  ${when(line.at)}  ${line.step ? `${line.step}: ` : ""}`;
  const said =
    "kind" in line
      ? `${line.by} (${line.how}) ${styled("bold", decisionText(line))}`
      : joined(
          [
            `${line.what}, ${line.who.startsWith("as ") ? "" : "by "}${line.who}`,
            wordsOf(line.details),
          ],
          ": ",
        );
  const named = Object.entries(names).reduce(
    (text, [payee, name]) => (name === null ? text : text.replaceAll(payee, `${payee} (${name})`)),
    said,
  );
  return beside(start, named);
};

/** Prints the log of a workflow id, and whether it is unchanged. */
export const logText = ({ lines, names, verification, workflowId }: RunLog): string =>
  joinedLines([
    styled("bold", workflowId),
    lines.map((line) => logLine(line, names)),
    verification && ["", verifiedText(verification)],
  ]);

const verifiedText = (verification: NonNullable<RunLog["verification"]>): string =>
  verification.isIntact
    ? styled("green", `Verified: all ${verification.lines} lines are unchanged.`)
    : styled("red", `EDITED: entry ${verification.sequence} does not match the entry before it.`);
