import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure } from "@temporalio/common";
import type { BatchRow } from "@durable-payments/protocol";
import { isOpen } from "../runs/state-name.ts";
import { Refused } from "../errors.ts";
import { isNoAnswer } from "../connection/temporal-errors.ts";
import type { Temporal } from "../connection/temporal.ts";
import { type BatchReport, reportBatch, rowsOfBatch, unpaid } from "./report.ts";
import { countRows, type RowCounts, underWay } from "./row-counts.ts";
import { withAmended } from "./sent-totals.ts";

const SHORTEST_INTERVAL_MS = 1_000;
/** With the patience of a question, a worker that has stopped is noticed within its sticky time-out of 10 s. */
const LONGEST_INTERVAL_MS = 6_000;
const BACKOFF = 1.5;
const OUTAGE_OUTLIVED_MS = 10 * 60_000;
const COUNT_AGAIN_MS = 5_000;

/** The progress of a batch that is awaited. */
export type BatchUpdate =
  | { readonly kind: "report"; readonly report: BatchReport }
  /** Temporal does not answer; it is asked again. */
  | { readonly kind: "unanswered" }
  /** No worker answers for the batch: it has stopped, or is busy. */
  | { readonly kind: "noWorker" }
  | { readonly kind: "workerAgain" }
  /** Runs of rows that other files started, or that were retried, go on still. */
  | { readonly kind: "othersUnderWay"; readonly runs: number };

/** Whether two reports show the same. */
const isSame = (a: BatchReport | undefined, b: BatchReport): boolean =>
  a !== undefined &&
  JSON.stringify([a.runs, a.progress, a.stage]) === JSON.stringify([b.runs, b.progress, b.stage]);

/**
 * Await the end of a batch, and report its progress; an outage of Temporal of up to ten minutes is
 * outlived.
 *
 * @param temporal the connection of `withTemporal`.
 * @param workflowId of the batch.
 * @param onUpdate is called with each report that differs from the one before.
 * @returns the last report.
 * @throws as `reportBatch`; what Temporal fails with where it is away for longer.
 */
export const awaitBatch = async (
  temporal: Temporal,
  workflowId: string,
  onUpdate: (update: BatchUpdate) => void,
): Promise<BatchReport> => {
  let unansweredSince: number | undefined;
  let last: BatchReport | undefined;
  let wasAnswered = true;
  for (let interval = SHORTEST_INTERVAL_MS; ;) {
    try {
      const report = await reportBatch(temporal, workflowId);
      unansweredSince = undefined;
      if (!isOpen(report)) return report;
      const isAnswered = report.progress !== null;
      if (isAnswered !== wasAnswered) {
        onUpdate({ kind: isAnswered ? "workerAgain" : "noWorker" });
        wasAnswered = isAnswered;
      }
      onUpdate({ kind: "report", report });
      interval = isSame(last, report)
        ? Math.min(LONGEST_INTERVAL_MS, interval * BACKOFF)
        : SHORTEST_INTERVAL_MS;
      last = report;
    } catch (error) {
      if (!isNoAnswer(error)) throw error;
      if (unansweredSince === undefined) onUpdate({ kind: "unanswered" });
      unansweredSince ??= Date.now();
      if (Date.now() - unansweredSince > OUTAGE_OUTLIVED_MS) throw error;
    }
    await sleep(interval);
  }
};

/** How rows are counted. */
export interface CountOptions {
  /** Counts them again until all their runs have ended. */
  readonly wait: boolean;
  readonly onUpdate: (update: BatchUpdate) => void;
}

/**
 * Count rows by how their runs stand.
 *
 * @param temporal the connection of `withTemporal`.
 * @param batch workflow id of the batch that pays them.
 * @param chunks the rows; read again for each count.
 * @param options whether it counts until all their runs have ended, and who is kept informed of that.
 * @returns the runs of this batch, and those that other files started.
 */
export const countedRows = async (
  temporal: Temporal,
  batch: string,
  chunks: () => AsyncIterable<ReadonlyArray<BatchRow>>,
  { onUpdate, wait }: CountOptions,
): Promise<RowCounts> => {
  for (;;) {
    const counts = await countRows(temporal, chunks(), batch);
    const runs = underWay(counts.own) + underWay(counts.others);
    if (!wait || runs === 0) return counts;
    onUpdate({ kind: "othersUnderWay", runs });
    await sleep(COUNT_AGAIN_MS);
  }
};

/**
 * Add what is known of the rows of a batch that has ended, where its counts alone do not have it.
 *
 * @param temporal the connection of `withTemporal`.
 * @param report what `reportBatch` or `awaitBatch` returns.
 * @param options as of `countedRows`.
 * @returns the report with its rows counted one by one; as it was where that adds nothing.
 */
export const withRows = async (
  temporal: Temporal,
  report: BatchReport,
  options: CountOptions,
): Promise<BatchReport> => {
  const { progress, runs, workflowId } = report;
  const isComplete = unpaid(runs) + underWay(runs) === 0 && (progress?.known ?? 0) === 0;
  if (isOpen(report) || isComplete) return report;
  try {
    const rows = () => rowsOfBatch(temporal, workflowId);
    const { amended, others, own } = await countedRows(temporal, workflowId, rows, options);
    const sent = await withAmended(temporal, report.fileTotals ?? report.totals, amended);
    return { ...report, ...sent, runs: own, others };
  } catch (error) {
    // Its rows are kept no longer than its runs; what is counted by them alone is reported all the same.
    if (error instanceof ApplicationFailure && error.type === "ChunkMissing") return report;
    // Somebody has replaced them.
    if (error instanceof Refused) return report;
    throw error;
  }
};

/**
 * Report how a batch stands, row by row once it has ended.
 *
 * @throws as `reportBatch`.
 */
export const reportBatchRows = async (
  temporal: Temporal,
  workflowId: string,
): Promise<BatchReport> =>
  withRows(temporal, await reportBatch(temporal, workflowId), { wait: false, onUpdate: () => {} });
