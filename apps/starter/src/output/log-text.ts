import type { RunLog } from "@durable-payments/operations/show";
import { beside, styled, when, wrap } from "./text.ts";

/** Prints the log of a workflow id, and whether it is as it was written. */
export const logText = ({ lines, verification, workflowId }: RunLog): string =>
  [
    styled("bold", workflowId),
    ...lines.map(({ at, details, isDecision, step, what, who }) => {
      const title = `${step === null ? "" : `${step}: `}${isDecision ? styled("bold", what) : what}`;
      return beside(
        `  ${when(at)}  `,
        `${title}, by ${who}${details === null ? "" : ` (${details})`}`,
      );
    }),
    ...(verification === undefined
      ? []
      : [
          "",
          verification.isIntact
            ? styled("green", `Verified: all ${verification.lines} lines are as they were written.`)
            : wrap(
                styled(
                  "red",
                  `EDITED: entry ${verification.sequence} does not follow from the one before it.`,
                ),
              ),
        ]),
  ].join("\n");
