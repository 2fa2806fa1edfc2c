import { paysRow } from "@durable-payments/activities/payout-content";
import type { Journal } from "@durable-payments/journal";
import type { BatchRow } from "@durable-payments/protocol";
import type { Temporal } from "../connection/temporal.ts";
import { readExecutionHistory } from "../history/read-execution-history.ts";
import { describeRun } from "../runs/state.ts";
import { amountOf, type CheckedFile, chunksAgain, wrongRows } from "./check-file.ts";
import { Totals } from "../totals.ts";
import { findRuns, runsOfRows } from "./latest-runs.ts";
import { type RowFault, rowFault } from "./raw-rows.ts";
import { type Rejection, Rejections } from "./rejections.ts";
import { type RowSends, sendsOfRow } from "./row-sends.ts";

/** Which rows of a file have been paid or are being paid. */
export interface KnownRows {
  readonly new: number;
  readonly known: number;
  /** Sums of the new rows by currency, decimal strings. */
  readonly newTotals: Readonly<Record<string, string>>;
  /** Lines of the rows that are new: `2-40, 42`; cut short where they are many. */
  readonly newRows: string;
  /** How many of the new rows were paid all the same, as the journal knows; null without one. */
  readonly paidBefore: number | null;
  /** How many of the new rows were sent, and the journal has no answer; null without one. */
  readonly inDoubt: number | null;
  /** The batches that people have rejected, and that held some of the new rows. */
  readonly rejected: ReadonlyArray<Rejection>;
}

/** What the journal has of rows, by workflow id; nothing where it cannot be read. */
const recordedOf = async (
  journal: Journal | undefined,
  rows: ReadonlyArray<BatchRow>,
): Promise<ReadonlyMap<string, RowSends>> => {
  if (journal === undefined) return new Map();
  const found = rows.map(
    async (row) => [row.workflowId, (await sendsOfRow(journal, row)).sends] as const,
  );
  return new Map(await Promise.all(found));
};

const MOST_RANGES = 20;

/** Consecutive new rows, as they come. */
class Ranges {
  #ranges: Array<{ readonly from: number; to: number }> = [];
  #isBroken = true;

  add(row: number): void {
    const last = this.#ranges.at(-1);
    if (last !== undefined && !this.#isBroken) last.to = row;
    else if (this.#ranges.length <= MOST_RANGES) this.#ranges.push({ from: row, to: row });
    this.#isBroken = false;
  }

  /** A row that does not belong to them lies between. */
  break(): void {
    this.#isBroken = true;
  }

  get text(): string {
    const named = this.#ranges.slice(0, MOST_RANGES);
    const more = this.#ranges.length > named.length ? ", …" : "";
    return (
      named.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(", ") + more
    );
  }
}

const MOST_FAULTS_NAMED = 100;

/** Whether the run of another payment under the id of a row was amended to what the row pays. */
const isAmendedTo = async (temporal: Temporal, row: BatchRow): Promise<boolean> => {
  const run = await describeRun(temporal, row.workflowId);
  return paysRow(row, (await readExecutionHistory(temporal, run)).input);
};

/**
 * Find which rows of a checked file are known.
 *
 * @param journal of the account that pays, where it can be read
 *
 * @throws InvalidInput where a key was used for another payment
 */
export const findKnownRows = async (
  temporal: Temporal,
  checked: CheckedFile,
  onRow: (rows: number) => void,
  journal?: Journal,
): Promise<KnownRows> => {
  const faults: Array<RowFault> = [];
  const fresh = new Ranges();
  const totals = new Totals();
  let count = 0;
  let known = 0;
  let paid = 0;
  let inDoubt = 0;
  const rejections = await Rejections.read(temporal, checked.batch);
  for await (const { rows } of chunksAgain(checked)) {
    const found = await findRuns(
      temporal,
      rows.map(({ workflowId }) => workflowId),
    );
    const recorded = await recordedOf(
      journal,
      rows.filter(({ workflowId }) => !found.has(workflowId)),
    );
    const own = await runsOfRows(temporal, rows, found);
    for (const one of rows) {
      const { key, row, workflowId } = one;
      const run = found.get(workflowId);
      const sends = recorded.get(workflowId);
      const other = `${key} was used for another payment, ${workflowId}`;
      if (run === undefined && sends !== "otherPayment") {
        count += 1;
        totals.add(one.currency, amountOf(one));
        if (sends === "paid") paid += 1;
        if (sends === "inDoubt") inDoubt += 1;
        rejections.note(one);
        fresh.add(row);
        continue;
      }
      fresh.break();
      if (run === undefined) faults.push(rowFault(row, "key", `${other}, as the journal has it`));
      else if (own.has(workflowId)) known += 1;
      else if (faults.length < MOST_FAULTS_NAMED && (await isAmendedTo(temporal, one))) {
        faults.push(
          rowFault(row, "key", `${other}, and amended to this one since: leave the row out`),
        );
      } else faults.push(rowFault(row, "key", other));
    }
    onRow(count + known + faults.length);
  }
  if (faults.length > 0) throw wrongRows(faults.slice(0, MOST_FAULTS_NAMED), faults.length);
  return {
    new: count,
    known,
    newTotals: totals.amounts,
    newRows: fresh.text,
    paidBefore: journal === undefined ? null : paid,
    inDoubt: journal === undefined ? null : inDoubt,
    rejected: rejections.found,
  };
};
