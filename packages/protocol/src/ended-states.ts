/** How a run has ended: the same words in lists, reports, waits, batches and notifications. */
export type EndedState = "cancelled" | "completed" | "failed" | "terminated" | "timedOut";

/** One that was continued as new goes on. */
const STATES: Readonly<Record<string, EndedState>> = {
  COMPLETED: "completed",
  FAILED: "failed",
  TIMED_OUT: "timedOut",
  CANCELLED: "cancelled",
  TERMINATED: "terminated",
};

/**
 * Read how a run has ended.
 *
 * @param status the name of Temporal's status.
 * @returns undefined where it goes on.
 */
export const endedStateOf = (status: string): EndedState | undefined => STATES[status];
