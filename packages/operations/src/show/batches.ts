import type { Batch, BatchCount, BatchRow, Ledger } from "@durable-payments/ledger";
import type { NextOperation } from "../errors.ts";
import { pauseOf } from "./standing.ts";

/** A batch with what became of its rows. */
export interface BatchView extends Omit<Batch, "details"> {
  readonly counts: ReadonlyArray<BatchCount>;
  /** Whether sending of its rows is paused, and by whom. */
  readonly pausedBy: string | null;
}

/** A batch with the rows that need attention. */
export interface BatchDetails extends BatchView {
  /** Rows that failed, with the reason: the first 100. */
  readonly failed: ReadonlyArray<BatchRow>;
  readonly rejected: ReadonlyArray<BatchRow>;
  readonly next: ReadonlyArray<NextOperation>;
}

const MOST_ROWS = 100;

const viewOf = async (
  ledger: Ledger,
  { details: _details, ...batch }: Batch,
): Promise<BatchView> => {
  const [counts, pauses] = await Promise.all([ledger.batchCounts(batch.id), ledger.pauses()]);
  return { ...batch, counts, pausedBy: pauseOf(pauses, batch.id)?.by ?? null };
};

const rowsIn = ({ counts }: BatchView, state: BatchCount["state"]): number =>
  counts.reduce((sum, count) => (count.state === state ? sum + count.rows : sum), 0);

/**
 * Lists batches, the newest first, each with the counts of its rows.
 *
 * @param limit most batches.
 */
export const listBatches = async (
  ledger: Ledger,
  limit: number,
): Promise<ReadonlyArray<BatchView>> =>
  Promise.all((await ledger.batches()).slice(0, limit).map((batch) => viewOf(ledger, batch)));

/** Says what can be done about a batch. */
const nextOf = (batch: BatchView): ReadonlyArray<NextOperation> => {
  const { id, pausedBy, state } = batch;
  const next: Array<NextOperation> = [];
  if (state === "needsApproval") {
    next.push({ operation: "approve", workflowId: id }, { operation: "reject", workflowId: id });
  }
  if (pausedBy !== null) next.push({ operation: "resume", of: id });
  if (rowsIn(batch, "failed") > 0) next.push({ operation: "retryAll", batch: id });
  if (state === "running") next.push({ operation: "show", workflowId: id, isFollowed: true });
  return next.slice(0, 3);
};

/**
 * Reads one batch, with its failed rows and their reasons.
 *
 * @returns undefined where the ledger has no such batch.
 */
export const findBatch = async (ledger: Ledger, id: string): Promise<BatchDetails | undefined> => {
  const batch = await ledger.batch(id);
  if (batch === undefined) return undefined;
  const [view, failed, rejected] = await Promise.all([
    viewOf(ledger, batch),
    ledger.batchRows(id, { states: ["failed"], limit: MOST_ROWS }),
    ledger.batchRows(id, { states: ["rejected"], limit: MOST_ROWS }),
  ]);
  return { ...view, failed, rejected, next: nextOf(view) };
};
