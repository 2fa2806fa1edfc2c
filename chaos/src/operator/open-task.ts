import { type HumanTask, progressQuery } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";

/** A task of a run that waits for a person now. */
export interface OpenTask extends HumanTask {
  readonly workflowId: string;
  /** Whether another step of the run is sending as well. */
  readonly isSendingElsewhere: boolean;
}

/** Read the task of a run, as `starter attention` shows it; undefined where it has none. */
export const readTask = async (
  client: Client,
  workflowId: string,
): Promise<OpenTask | undefined> => {
  const { attention, steps } = await client.workflow.getHandle(workflowId).query(progressQuery);
  if (attention === undefined) return undefined;
  const isSendingElsewhere = steps.some(
    ({ name, status }) =>
      name !== attention.step && (status === "running" || status === "needsAttention"),
  );
  return { workflowId, isSendingElsewhere, ...attention };
};
