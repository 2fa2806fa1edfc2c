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
}

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
 * @throws BadInput where a key was used for another payment
 */
export const findKnownRows = async (
  temporal: Temporal,
  checked: CheckedFile,
  onRow: (rows: number) => void,
): Promise<KnownRows> => {
  const faults: Array<RowFault> = [];
  const fresh = new Ranges();
  let count = 0;
  let known = 0;
  for await (const { rows } of pagesAgain(checked)) {
    const found = await findRuns(
      temporal,
      rows.map(({ workflowId }) => workflowId),
    );
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
  return { new: count, known, newRows: fresh.text };
};
