import type { Decision } from "@durable-payments/protocol";
import type { Temporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";
import { commandLine } from "../output/command-line.ts";
import { decide } from "./decide.ts";
import { attentionLines } from "./progress-lines.ts";
import { askProgress } from "./progress-query.ts";
import { describeRun } from "./run-state.ts";

/** A person's decision as it is given on the command line. */
interface Given {
  readonly by: string;
  /** The question that the person has read, where it is said. */
  readonly question: string | undefined;
  readonly decision: Decision;
}

/** What a run asks now, for who has not said what was read: nobody answers what they have not read. */
const askedNow = async (temporal: Temporal, workflowId: string): Promise<string> => {
  const run = await describeRun(temporal, workflowId);
  if (run.status.name !== "RUNNING" && run.status.name !== "PAUSED") {
    return `The run ${workflowId} has ended: it takes no decision any more.`;
  }
  const say = "Say by --question which question you have read. Nothing was done.";
  const asked = await askProgress(temporal, run);
  if (asked._tag === "NoAnswer") return `${say} ${asked.reason} ${commandLine("attention")}`;
  const { attention } = asked.progress;
  return attention === undefined
    ? "This run does not wait for a person."
    : [`${say} It asks now:`, ...attentionLines(workflowId, attention)].join("\n");
};

/**
 * Gives a run the decision of a person on the question that the person has read.
 *
 * @returns the id of the run that took it
 * @throws BadInput where the question is not said, or the run asks another one by now; NoWorker
 */
export const resolveRun = async (
  temporal: Temporal,
  workflowId: string,
  { by, decision, question }: Given,
): Promise<string> => {
  if (question === undefined) throw badInput(await askedNow(temporal, workflowId));
  return decide(temporal, workflowId, "resolve", { by, question, ...decision });
};
