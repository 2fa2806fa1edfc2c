import { WorkflowNotFoundError } from "@temporalio/client";
import { decodeArrayFromPayloads } from "@temporalio/common/lib/internal-non-workflow/index.js";
import { optionalTsToMs } from "@temporalio/common/lib/time.js";
import type { Temporal } from "../connection/temporal.ts";
import { withoutActivityNames } from "../history/lacking-activity.ts";

/** It sends a heartbeat at least as often, or another worker takes it over. */
const HEARTBEAT_WITHIN_MS = 20_000;

/** How the one activity stands of a workflow that workers keep running. */
export type LongActivity =
  /** The workflow does not run. */
  | { readonly _tag: "NotRunning" }
  /** It goes on in a moment. */
  | { readonly _tag: "BetweenTwo" }
  /** No worker executes it; `sinceMs` is missing where none ever did. */
  | { readonly _tag: "Late"; readonly sinceMs?: number; readonly why?: string }
  | { readonly _tag: "Alive"; readonly sinceMs: number; readonly details: unknown };

/** Read how the one activity of a workflow stands that workers keep running. */
export const readLongActivity = async (
  { client }: Temporal,
  workflowId: string,
): Promise<LongActivity> => {
  const described = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  if (described?.status.name !== "RUNNING") return { _tag: "NotRunning" };
  const [activity] = described.raw.pendingActivities ?? [];
  if (activity === undefined) {
    // Between two it has a workflow task, for a moment; whatever else has its id may have none, or one for ever.
    const scheduled = described.raw.pendingWorkflowTask?.originalScheduledTime;
    const sinceMs = Date.now() - (optionalTsToMs(scheduled) ?? described.startTime.getTime());
    return sinceMs > HEARTBEAT_WITHIN_MS
      ? { _tag: "Late", sinceMs, why: "it executes nothing" }
      : { _tag: "BetweenTwo" };
  }
  // A worker that hangs may have taken up a further attempt, too.
  const begun = activity.attempt === 1 ? optionalTsToMs(activity.lastStartedTime) : undefined;
  const seen = Math.max(optionalTsToMs(activity.lastHeartbeatTime) ?? 0, begun ?? 0);
  const sinceMs = Date.now() - seen;
  if (sinceMs > HEARTBEAT_WITHIN_MS) {
    const why = withoutActivityNames(activity.lastFailure?.message ?? "");
    return { _tag: "Late", ...(seen > 0 && { sinceMs }), ...(why !== "" && { why }) };
  }
  const [details] = await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    activity.heartbeatDetails?.payloads,
  );
  return { _tag: "Alive", sinceMs, details };
};

/** Word for how long nobody has executed it, and why. */
export const describeLate = ({ sinceMs, why }: LongActivity & { readonly _tag: "Late" }): string =>
  `${sinceMs === undefined ? "no worker has taken it up" : `no sign of life for ${seconds(sinceMs)}`}${why === undefined ? "" : ` (${why})`}`;

/** Word a time in seconds. */
export const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`;
