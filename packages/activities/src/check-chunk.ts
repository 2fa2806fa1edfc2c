import { isAtLeast, isDecimal } from "@durable-payments/api-core/decimal";
import { type BatchRow, chunkId } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import {
  batchOfChunks,
  canonicalJson,
  hashOfRows,
  paysRow,
  rowWorkflowId,
} from "./payout-content.ts";
import { Totals } from "./totals.ts";

/** By what a worker knows that a chunk holds what was imported, and what a person has approved. */
export interface ChunkFingerprint {
  /** Workflow id of the batch. */
  readonly batch: string;
  /** Which chunk of the batch: the first is 1. */
  readonly chunk: number;
  /** Hash of the rows of this chunk, as the batch was started with it. */
  readonly hash: string | undefined;
  /** Name of the account that pays its rows, where it has one. */
  readonly account?: string | undefined;
  /** Hashes of all chunks, of which the id of the batch is made; with the first chunk only. */
  readonly hashes?: ReadonlyArray<string>;
}

const changed = (message: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(
    `${message} None of the rows of this chunk was started. Find out who else can write to this Temporal namespace, then import the file once more: what it has paid is not paid again.`,
    "ChunkChanged",
  );

/** What a row says of itself, and its content does not; undefined where they agree. */
const disagreement = (row: BatchRow, account: string | undefined): string | undefined => {
  if (row.workflowId !== rowWorkflowId(row.key)) return "its workflow id is not that of its key";
  if (!paysRow(row, row.input)) return "its fingerprint is not that of what it pays";
  if (row.currency !== row.input.payout.currency) {
    return "its currency is not that of what it pays";
  }
  if (row.input.account !== account) return "its account is not that of its batch";
  // It would make room in the total for other rows, and so below the limit of an approval.
  return isPositive(row.input.payout.amount) ? undefined : "its amount is not above zero";
};

/** Whoever has written the row can have given anything. */
const isPositive = (amount: unknown): boolean =>
  typeof amount === "string" && isDecimal(amount) && !isAtLeast("0", amount);

/** A chunk that somebody else has written may hold anything: its hash says whether it has rows. */
const isChunk = (rows: unknown): rows is ReadonlyArray<BatchRow> => Array.isArray(rows);

/**
 * Check that a chunk holds the very rows that the batch was started with, and each row what it says.
 *
 * @returns the rows.
 * @throws ChunkChanged, before any of its rows is started.
 */
export const checkedRows = (
  rows: unknown,
  { account, batch, chunk, hash, hashes }: ChunkFingerprint,
): ReadonlyArray<BatchRow> => {
  if (hash === undefined) {
    throw changed(`${batch} was started without the hash of its chunk ${chunk}.`);
  }
  if (hashes !== undefined && batchOfChunks(hashes) !== batch) {
    throw changed(`${batch} was started for other chunks than its id is made of.`);
  }
  if (!isChunk(rows) || hashOfRows(rows.map((row) => canonicalJson(row))) !== hash) {
    throw changed(
      `${chunkId(batch, chunk)} does not hold the rows that ${batch} was started for: somebody has replaced it.`,
    );
  }
  for (const row of rows) {
    const fault = disagreement(row, account);
    if (fault !== undefined)
      throw changed(`Row ${row.row} of ${batch} is not what it says: ${fault}.`);
  }
  return rows;
};

/**
 * Add up what the rows of a chunk pay, after those before it.
 *
 * @throws ChunkChanged where it is more than the totals that were imported, and approved.
 */
export const sumOf = (
  rows: ReadonlyArray<BatchRow>,
  {
    batch,
    paid = {},
    totals,
  }: {
    readonly batch: string;
    readonly paid?: Readonly<Record<string, string>>;
    readonly totals: Readonly<Record<string, string>>;
  },
): Readonly<Record<string, string>> => {
  const sums = new Totals();
  for (const [currency, amount] of Object.entries(paid)) {
    if (!isPositive(amount))
      throw changed(`The rows of ${batch} pay ${amount} ${currency} so far.`);
    sums.add(currency, amount);
  }
  for (const { currency, input } of rows) sums.add(currency, input.payout.amount);
  for (const [currency, sum] of Object.entries(sums.amounts)) {
    const total = totals[currency];
    if (total === undefined || !isAtLeast(total, sum)) {
      throw changed(`The rows of ${batch} pay more than its total of ${total ?? "0"} ${currency}.`);
    }
  }
  return sums.amounts;
};
