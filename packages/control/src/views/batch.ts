import type { Batch, BatchCount, BatchRow, Ledger } from "@durable-payments/ledger";
import { keptOf, readRows } from "../actions/batch/batch.ts";
import type { NextOperation } from "../errors.ts";
import { listingOf } from "../rules/listing.ts";
import type { FileListing } from "../rules/run-view.ts";
import { pauseOf } from "../rules/standing.ts";

/** A batch with the outcome of its rows. */
export interface BatchView extends Omit<Batch, "details"> {
  readonly counts: ReadonlyArray<BatchCount>;
  readonly pausedBy: string | null;
}

/** A batch with the first 100 rows that it does not pay. */
export interface BatchDetails extends BatchView {
  /** Rows that it does not pay, with the reason: failed, rejected, or in an earlier file. */
  readonly notPaid: ReadonlyArray<BatchRow>;
  /** Such rows beyond these. */
  readonly notNamed: number;
  /** Which rows are likely duplicates of payments under other ids. */
  readonly warnings: ReadonlyArray<string>;
  /** The uploader's reason to pay them. */
  readonly notDuplicate: string | null;
  /** The rows that it pays; null unless it waits for its approval, or all rows are asked for. */
  readonly listing: FileListing | null;
  readonly next: ReadonlyArray<NextOperation>;
}

const MOST_NAMED = 100;

/** States of rows that this batch does not pay: each such row is named with the reason. */
const NOT_PAID: ReadonlyArray<BatchRow["state"]> = ["failed", "rejected", "covered"];

const batchOf = async (ledger: Ledger, { details: _, ...batch }: Batch): Promise<BatchView> => {
  const [counts, pauses] = await Promise.all([ledger.batchCounts(batch.id), ledger.pauses()]);
  return { ...batch, counts, pausedBy: pauseOf(pauses, batch.id)?.by ?? null };
};

/**
 * Lists batches, the newest first, each with the counts of its rows.
 *
 * @param limit most batches.
 */
export const listBatches = async (
  ledger: Ledger,
  limit: number,
): Promise<ReadonlyArray<BatchView>> =>
  Promise.all((await ledger.batches({ limit })).map((batch) => batchOf(ledger, batch)));

/** Returns the possible actions for a batch. */
const nextOfBatch = (
  { counts, id, pausedBy, state }: BatchView,
  listing: FileListing | null,
): ReadonlyArray<NextOperation> => {
  const next: Array<NextOperation> = [];
  if (state === "needsApproval") {
    const { hash } = listing ?? {};
    next.push(
      { operation: "approve", workflowId: id, ...(hash !== undefined && { hash }) },
      { operation: "reject", workflowId: id },
    );
  }
  if (pausedBy !== null) next.push({ operation: "resume", workflowId: id });
  if (counts.some(({ rows, state: of }) => of === "failed" && rows > 0))
    next.push({ operation: "retryAll", batch: id });
  return next.slice(0, 3);
};

const ASKS: ReadonlyArray<Batch["state"]> = ["reading", "needsApproval"];

/** Reads what a batch pays: the largest rows, or all. */
export const readListing = async (
  ledger: Ledger,
  batch: Pick<Batch, "account" | "id" | "state">,
  isWhole = false,
): Promise<FileListing> => {
  const [rows, fresh] = await Promise.all([
    readRows(ledger, batch.id),
    // Once rows are paid, no payee is new.
    ASKS.includes(batch.state) ? ledger.newPayees(batch) : new Set<number>(),
  ]);
  return listingOf(rows, fresh, isWhole);
};

/**
 * Reads one batch, with its failed rows and their reasons. If it waits for its approval, also with what it pays.
 *
 * @param isWhole whether all of its rows are listed.
 * @returns undefined if the ledger has no such batch.
 */
export const findBatch = async (
  ledger: Ledger,
  id: string,
  isWhole = false,
): Promise<BatchDetails | undefined> => {
  const batch = await ledger.batch(id);
  if (batch === undefined) return undefined;
  const [view, notPaid, listing] = await Promise.all([
    batchOf(ledger, batch),
    ledger.batchRows(id, { states: NOT_PAID, limit: MOST_NAMED }),
    isWhole || ASKS.includes(batch.state) ? readListing(ledger, batch, isWhole) : null,
  ]);
  const { chunks: _, ...kept } = keptOf(batch);
  const notNamed = view.counts
    .filter(({ state }) => NOT_PAID.includes(state))
    .reduce((left, { rows }) => left + rows, -notPaid.length);
  return { ...view, ...kept, notPaid, notNamed, listing, next: nextOfBatch(view, listing) };
};
