/** Why sends are paused. */
export interface Pause {
  readonly why: string;
  readonly by: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Workflow type of a pause. */
export const PAUSE_TYPE = "pauseSends";

/** Give the workflow id of the pause of a base queue: sends are paused while a workflow of this id runs. */
export const pauseId = (taskQueue: string): string => `pause/${taskQueue}`;

/** What the memo of a pause says. */
export type PauseMemo = Pick<Pause, "by" | "why">;

/** What the Web UI shows of a pause. */
export const PAUSE_DETAILS =
  "While this runs, no run of the task queue sends a write to the service; waiting and reading go on. It is terminated to resume: starter resume";
