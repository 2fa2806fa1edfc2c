import type { Nudged } from "@durable-payments/operations/decide";
import { nextLines } from "./next.ts";

/** Says whether the run knows of a decision; the decision is recorded in any case. */
const nudgedText = (nudged: Nudged): string => {
  switch (nudged.is) {
    case "nudged":
      return "The run was asked to look.";
    case "noRun":
      return "No run is open: it holds for the next one.";
    case "unanswered":
      return "Temporal does not answer: the tracker notifies the run as soon as it does.";
  }
};

/** Returns what was recorded, and how to see what follows. */
export const decidedText = (what: string, workflowId: string, nudged: Nudged): string =>
  [`${what} ${nudgedText(nudged)}`, ...nextLines([{ operation: "show", workflowId }])].join("\n");
