import { decisionText, type RunLog } from "@durable-payments/control/show";
import { wordsOf } from "./run-text.ts";
import { beside, joined, styled, when, wrap } from "./text.ts";

const logLine = (line: RunLog["lines"][number]): string => {
  const start = `  ${when(line.at)}  ${line.step === null ? "" : `${line.step}: `}`;
  const said =
    "kind" in line
      ? `${line.by} (${line.how}) ${styled("bold", decisionText(line))}`
      : joined([`${line.what}, by ${line.who}`, wordsOf(line.details)], ": ");
  return beside(start, said);
};

/** Prints the log of a workflow id, and whether it is unchanged. */
export const logText = ({ lines, verification, workflowId }: RunLog): string =>
  [
    styled("bold", workflowId),
    ...lines.map(logLine),
    ...(verification === undefined
      ? []
      : [
          "",
          verification.isIntact
            ? styled("green", `Verified: all ${verification.lines} lines are unchanged.`)
            : wrap(
                styled(
                  "red",
                  `EDITED: entry ${verification.sequence} does not match the entry before it.`,
                ),
              ),
        ]),
  ].join("\n");
