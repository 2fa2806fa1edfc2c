import { isTracked, type Tracked } from "@durable-payments/protocol/tracker";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";

/**
 * Returns whether a workflow id has an open run.
 *
 * @returns `unknown` where Temporal knows no run of it.
 * @throws where Temporal cannot be asked.
 */
export const readRunState = async (
  client: Client,
  workflowId: string,
): Promise<"open" | "closed" | "unknown"> => {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === "RUNNING" || status.name === "PAUSED" ? "open" : "closed";
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return "unknown";
    throw error;
  }
};

/**
 * Returns what the tracker has last said to Temporal by its heartbeat: a witness of the ledger that outlives it.
 *
 * @param trackerId workflow id of the account's tracker.
 * @returns undefined where no tracker runs, or it has said nothing yet.
 */
export const readTracked = async (
  client: Client,
  trackerId: string,
): Promise<Tracked | undefined> => {
  try {
    const { raw } = await client.workflow.getHandle(trackerId).describe();
    const [details] = await decodeArrayFromPayloads(
      client.options.loadedDataConverter,
      raw.pendingActivities?.[0]?.heartbeatDetails?.payloads,
    );
    return isTracked(details) ? details : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
};
