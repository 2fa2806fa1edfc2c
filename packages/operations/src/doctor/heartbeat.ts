import type { Client } from "@temporalio/client";
import { WorkflowNotFoundError } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";

/** An activity that workers keep running heartbeats more often than this. */
const HEARTBEAT_WITHIN_MS = 60_000;

/** State of the one activity of a workflow that workers keep running. */
export type Heartbeat =
  | { readonly is: "notRunning" }
  /** Between two activities, for a moment. */
  | { readonly is: "betweenTwo" }
  /** No worker gives a sign of life. */
  | { readonly is: "late"; readonly why: string }
  | { readonly is: "alive"; readonly sinceMs: number; readonly details: unknown };

/** Reads whether a worker executes the activity of a tracker or a notifier, and what it last reported. */
export const readHeartbeat = async (client: Client, workflowId: string): Promise<Heartbeat> => {
  let described;
  try {
    described = await client.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { is: "notRunning" };
    throw error;
  }
  if (described.status.name !== "RUNNING") return { is: "notRunning" };
  const [activity] = described.raw.pendingActivities ?? [];
  if (activity === undefined) return { is: "betweenTwo" };
  const seen = Math.max(
    optionalTsToMs(activity.lastHeartbeatTime) ?? 0,
    optionalTsToMs(activity.lastStartedTime) ?? 0,
  );
  const sinceMs = Date.now() - seen;
  if (seen === 0) return { is: "late", why: "no worker has taken it up" };
  if (sinceMs > HEARTBEAT_WITHIN_MS) {
    return { is: "late", why: `no sign of life for ${Math.round(sinceMs / 1000)} s` };
  }
  const [details] = await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    activity.heartbeatDetails?.payloads,
  );
  return { is: "alive", sinceMs, details };
};
