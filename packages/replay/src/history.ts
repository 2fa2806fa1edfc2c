import type { History } from "@temporalio/common/lib/proto-utils.js";

export type { History } from "@temporalio/common/lib/proto-utils.js";

/** A run whose history is replayed. */
export interface RunToReplay {
  /** Its own: the ledger and the ids of children go by it. */
  readonly workflowId: string;
  readonly history: History;
}

/** Whether the run of a history has begun to run: before that its code has decided nothing. */
export const hasBegun = ({ events }: History): boolean =>
  (events ?? []).some((event) => event.workflowTaskStartedEventAttributes);
