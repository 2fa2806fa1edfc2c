import type { NextOperation } from "../errors.ts";

/** What a step of another run of a workflow id has sent. */
export interface SentByOther {
  readonly runId: string;
  readonly step: string;
  /** What it made; left out where nobody knows whether it made something. */
  readonly id?: string;
}

const MOST_NAMED = 3;

const nameOf = ({ id, runId, step }: SentByOther): string =>
  `${step} of ${runId}, ${id === undefined ? "whose outcome is not known" : `which made ${id}`}`;

/** Say of a run that has sent nothing what other runs of its id have, and how that is seen; undefined where they have not. */
export const sentByOthersText = (
  workflowId: string,
  sent: ReadonlyArray<SentByOther>,
): { readonly message: string; readonly next: NextOperation } | undefined => {
  const [first] = sent;
  if (first === undefined) return undefined;
  const more = sent.length - MOST_NAMED;
  const named = sent.slice(0, MOST_NAMED).map(nameOf).join("; ");
  return {
    message: `It has sent nothing itself, but other runs of this id have: ${named}${more > 0 ? `; and ${more} more` : ""}. Look at them before it is paid in another way.`,
    next: { operation: "timeline", workflowId, runId: first.runId },
  };
};
