import type { StepProgress } from "@durable-payments/protocol";
import type { WorkflowExecutionDescription } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { endedBeforeReset } from "../history/before-reset.ts";
import { readRun } from "../history/read-run.ts";

/**
 * The steps of a run with the times that those took which a reset kept as done: the run itself takes the
 * pause until its reset for a part of the last of them.
 */
export const withKeptTimes = async (
  { client }: Temporal,
  { raw, runId, workflowId }: Pick<WorkflowExecutionDescription, "raw" | "runId" | "workflowId">,
  steps: ReadonlyArray<StepProgress>,
): Promise<ReadonlyArray<StepProgress>> => {
  const isReset = raw.workflowExecutionInfo?.firstRunId !== runId;
  if (!isReset || steps.length === 0) return steps;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const { resetAt, steps: past } = readRun(history);
  return steps.map((step) => {
    const events = past.find(({ name }) => name === step.name)?.events ?? [];
    const until = endedBeforeReset(events, resetAt);
    return until === undefined || step.until === undefined ? step : { ...step, until };
  });
};
