import type { Journal } from "@durable-payments/journal";
import type { Temporal } from "../connection/temporal.ts";
import { type CheckedFile, pagesAgain, wrongRows } from "./check-bulk-file.ts";
import { findRuns } from "./found-runs.ts";
import { type RowFault, rowFault } from "./raw-rows.ts";

/** Which rows of a file have been paid or are being paid. */
export interface KnownRows {
  readonly new: number;
  readonly known: number;
  /** Lines of the rows that are new: `2-40, 42`; cut short where they are many. */
  readonly newRows: string;
  /** How many of the new rows were paid all the same, as the journal knows; null without one. */
  readonly paidBefore: number | null;
}

/** Whether the journal has a payout of a workflow id that was carried out. */
const isPaid = async (journal: Journal, workflowId: string): Promise<boolean> =>
  (await journal.find({ workflowId })).some(
    ({ operation, outcome }) => operation === "createPayout" && outcome === "carriedOut",
  );

const countPaid = async (journal: Journal, ids: ReadonlyArray<string>): Promise<number> =>
  (await Promise.all(ids.map((id) => isPaid(journal, id)))).filter(Boolean).length;

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

/**
 * Looks up which rows of a checked file are known.
 *
 * @param journal of the account that pays, where it can be read
 *
 * @throws BadInput where a key was used for another payment
 */
export const findKnownRows = async (
  temporal: Temporal,
  checked: CheckedFile,
  onRow: (rows: number) => void,
  journal?: Journal,
): Promise<KnownRows> => {
  const faults: Array<RowFault> = [];
  const fresh = new Ranges();
  let count = 0;
  let known = 0;
  let paid = 0;
  for await (const { rows } of pagesAgain(checked)) {
    const found = await findRuns(
      temporal,
      rows.map(({ workflowId }) => workflowId),
    );
    const unknown = rows.filter(({ workflowId }) => !found.has(workflowId));
    if (journal !== undefined) {
      paid += await countPaid(
        journal,
        unknown.map(({ workflowId }) => workflowId),
      );
    }
    for (const { fingerprint, key, row, workflowId } of rows) {
      const run = found.get(workflowId);
      if (run === undefined) {
        count += 1;
        fresh.add(row);
        continue;
      }
      fresh.break();
      if (run.memo?.["fingerprint"] === fingerprint) known += 1;
      else faults.push(rowFault(row, "key", `${key} was used for another payment, ${workflowId}`));
    }
    onRow(count + known + faults.length);
  }
  if (faults.length > 0) throw wrongRows(faults.slice(0, MOST_FAULTS_NAMED), faults.length);
  return {
    new: count,
    known,
    newRows: fresh.text,
    paidBefore: journal === undefined ? null : paid,
  };
};
