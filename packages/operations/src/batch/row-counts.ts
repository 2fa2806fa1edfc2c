import {
  askingStages,
  type BatchRow,
  PAYMENT_BATCH,
  PAYMENT_STAGE,
  STEP,
  UNFINISHED,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import type { RunCounts } from "./report.ts";
import { findRuns } from "./latest-runs.ts";

/** How the latest runs of rows stand: of those that this file started, and those that others did. */
export interface RowCounts {
  readonly own: RunCounts;
  readonly others: RunCounts;
}

const NONE: RunCounts = {
  completed: 0,
  unfinished: 0,
  failed: 0,
  cancelled: 0,
  terminated: 0,
  timedOut: 0,
  asking: 0,
  waiting: 0,
  sending: 0,
};

/** How a run that goes on stands, by its stage. */
export const openStanding = (stage: string): "asking" | "waiting" | "sending" => {
  if (askingStages.includes(stage)) return "asking";
  return stage === STEP.awaitPayout ? "waiting" : "sending";
};

type Writable = { -readonly [Name in keyof RunCounts]: RunCounts[Name] };

const standingOf = ({ status, typedSearchAttributes }: WorkflowExecutionInfo): keyof RunCounts => {
  const stage = typedSearchAttributes.get(PAYMENT_STAGE) ?? "";
  switch (status.name) {
    case "COMPLETED":
      return stage === UNFINISHED ? "unfinished" : "completed";
    case "CANCELLED":
      return "cancelled";
    case "TERMINATED":
      return "terminated";
    case "TIMED_OUT":
      return "timedOut";
    case "RUNNING":
    case "PAUSED":
      return openStanding(stage);
    default:
      return "failed";
  }
};

/** Count rows by the latest run of each: one that failed and was retried since is one row. */
export const countRows = async (
  temporal: Temporal,
  chunks: AsyncIterable<ReadonlyArray<BatchRow>>,
  batch: string,
): Promise<RowCounts> => {
  const own: Writable = { ...NONE };
  const others: Writable = { ...NONE };
  for await (const rows of chunks) {
    const found = await findRuns(
      temporal,
      rows.map(({ workflowId }) => workflowId),
    );
    for (const { fingerprint, workflowId } of rows) {
      const run = found.get(workflowId);
      // A key that has paid something else is counted by the batch itself.
      if (run === undefined || run.memo?.["fingerprint"] !== fingerprint) continue;
      const isOwn = run.typedSearchAttributes.get(PAYMENT_BATCH) === batch;
      (isOwn ? own : others)[standingOf(run)] += 1;
    }
  }
  return { own, others };
};

/** Runs that have not ended. */
export const underWay = ({ asking, sending, waiting }: RunCounts): number =>
  asking + sending + waiting;
