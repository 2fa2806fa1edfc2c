import { Context } from "@temporalio/activity";
import { WorkflowNotFoundError } from "@temporalio/client";

/** State of the run that an activity belongs to: whether what it waits to send may be sent still. */
export type RunState = "open" | "cancelRequested" | "ended";

/** Read how the run of the current activity stands now. */
export type ReadRunState = () => Promise<RunState>;

/** An answer that comes later than this is of no use. */
export const ANSWERED_WITHIN_MS = 5_000;

/** Read it from the Temporal server. The run of an activity that belongs to no workflow is open. */
export const readTemporalRunState: ReadRunState = async () => {
  const activity = Context.current();
  const { workflowExecution } = activity.info;
  if (workflowExecution === undefined) return "open";
  const { runId, workflowId } = workflowExecution;
  const { client } = activity;
  try {
    const { raw, status } = await client.withDeadline(Date.now() + ANSWERED_WITHIN_MS, () =>
      client.workflow.getHandle(workflowId, runId).describe(),
    );
    switch (status.name) {
      case "RUNNING":
      case "PAUSED":
        // A server that does not show it reports the cancellation with a heartbeat.
        return raw.workflowExtendedInfo?.cancelRequested === true ? "cancelRequested" : "open";
      case "UNSPECIFIED":
      case "UNKNOWN":
        throw new Error(`the state of ${workflowId} is none that is known`);
      default:
        return "ended";
    }
  } catch (error) {
    // It was deleted, or is gone with a database that was put back.
    if (error instanceof WorkflowNotFoundError) return "ended";
    throw error;
  }
};
