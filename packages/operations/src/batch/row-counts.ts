import {
  AMENDED_MARK,
  type BatchRow,
  PAYMENT_BATCH,
  PAYMENT_IDS,
  PAYMENT_STAGE,
  UNFINISHED,
} from "@durable-payments/protocol";
import type { WorkflowExecutionInfo } from "@temporalio/client";
import type { Temporal } from "../connection/temporal.ts";
import { stateNameOf } from "../runs/state-name.ts";
import type { RunCounts } from "./report.ts";
import { findRuns, runsOfRows } from "./latest-runs.ts";

/** How the latest runs of rows stand: of those that this file started, and those that others did. */
export interface RowCounts {
  readonly own: RunCounts;
  readonly others: RunCounts;
  /** The runs whose payment was amended. */
  readonly amended: ReadonlyArray<WorkflowExecutionInfo>;
}

const NONE: RunCounts = {
  completed: 0,
  unfinished: 0,
  failed: 0,
  cancelled: 0,
  terminated: 0,
  timedOut: 0,
  attention: 0,
  waiting: 0,
  running: 0,
};

type Writable = { -readonly [Name in keyof RunCounts]: RunCounts[Name] };

/** A run that Temporal has paused is where it was. */
const counted = (run: WorkflowExecutionInfo): keyof RunCounts => {
  const state = stateNameOf(run);
  const stage = run.typedSearchAttributes.get(PAYMENT_STAGE) ?? "";
  if (state === "completed") return stage === UNFINISHED ? "unfinished" : "completed";
  return state === "paused" ? "running" : state;
};

/** Count rows by the latest run of each: one that failed and was retried since is one row. */
export const countRows = async (
  temporal: Temporal,
  chunks: AsyncIterable<ReadonlyArray<BatchRow>>,
  batch: string,
): Promise<RowCounts> => {
  const own: Writable = { ...NONE };
  const others: Writable = { ...NONE };
  const amended: Array<WorkflowExecutionInfo> = [];
  for await (const rows of chunks) {
    const found = await findRuns(
      temporal,
      rows.map(({ workflowId }) => workflowId),
    );
    // A key that has paid something else is counted by the batch itself.
    for (const run of (await runsOfRows(temporal, rows, found)).values()) {
      const isOwn = run.typedSearchAttributes.get(PAYMENT_BATCH) === batch;
      (isOwn ? own : others)[counted(run)] += 1;
      if (run.typedSearchAttributes.get(PAYMENT_IDS)?.includes(AMENDED_MARK)) amended.push(run);
    }
  }
  return { own, others, amended };
};

/** Count the runs that have not ended. */
export const underWay = ({ attention, running, waiting }: RunCounts): number =>
  attention + running + waiting;
