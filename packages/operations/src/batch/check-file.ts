import { batchOfChunks, canonicalJson } from "@durable-payments/activities/payout-content";
import type { Assumptions } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import type { BatchRow } from "@durable-payments/protocol";
import { invalidInput, refused } from "../errors.ts";
import { batchRow, makeRowCheck, readRows } from "./check-rows.ts";
import { type Chunk, chunksOf } from "./chunks.ts";
import { type RowFault, rowFault } from "./raw-rows.ts";
import { Totals, totalsText } from "../totals.ts";

/** A batch file without faults. */
export interface CheckedFile {
  readonly file: string;
  /** Workflow id of its batch, made of all that its rows hold. */
  readonly batch: string;
  readonly rows: number;
  /** Name of the account that all of them are paid from, where they have one. */
  readonly account?: string;
  readonly totals: Readonly<Record<string, string>>;
  /** Hashes of its chunks. */
  readonly chunks: ReadonlyArray<string>;
}

const MOST_FAULTS_NAMED = 100;

/** What a file with faults leads to; the first faults are named, the others counted. */
export const wrongRows = (faults: ReadonlyArray<RowFault>, count: number) =>
  invalidInput(
    `The file has ${count === 1 ? "one fault" : `${count} faults`}${
      count > faults.length ? `, of which these are the first ${faults.length}` : ""
    }. Nothing was started.`,
    faults,
  );

/**
 * Check every row of a batch file, in the memory of one chunk and a digest of each key. Nothing is sent.
 *
 * @param file path of a `.csv`, `.jsonl` or `.ndjson` file, in UTF-8.
 * @param assumptions what is assumed of the service: each row is checked by it.
 * @param onRow is called with how many rows have been checked.
 * @returns the file's rows in numbers: its id, totals by currency as decimal strings, chunks.
 * @throws InvalidInput that names the faults by row, column and rule.
 */
export const checkBatchFile = async (
  file: string,
  assumptions: Assumptions,
  onRow: (rows: number) => void = () => undefined,
): Promise<CheckedFile> => {
  const faults: Array<RowFault> = [];
  let faultCount = 0;
  let rows = 0;
  let first: BatchRow | undefined;
  const totals = new Totals();
  const faultsOf = makeRowCheck(/\.csv$/i.test(file), assumptions);
  const note = (found: ReadonlyArray<RowFault>) => {
    faultCount += found.length;
    faults.push(...found.slice(0, MOST_FAULTS_NAMED - faults.length));
  };

  async function* soundRows(): AsyncGenerator<BatchRow> {
    for await (const raw of readRows(file)) {
      rows += 1;
      onRow(rows);
      const found = "fault" in raw ? [raw.fault] : faultsOf(raw.row, raw.value);
      note(found);
      if ("fault" in raw || found.length > 0) continue;
      const row = batchRow(raw.row, raw.value);
      first ??= row;
      note(accountFaults(row, first));
      totals.add(row.currency, amountOf(row));
      yield row;
    }
  }

  const chunks: Array<string> = [];
  for await (const { hash } of chunksOf(soundRows())) chunks.push(hash);
  if (faultCount > 0) throw wrongRows(faults, faultCount);
  if (rows === 0) throw invalidInput(`${file} has no rows: there is nothing to pay.`);
  const account = first?.input.account;
  return {
    file,
    batch: batchOfChunks(chunks),
    rows,
    ...(account !== undefined && { account }),
    totals: totals.amounts,
    chunks,
  };
};

/** A file is one batch, which one account pays: its total is compared with the limits of that account. */
const accountFaults = (row: BatchRow, first: BatchRow): ReadonlyArray<RowFault> => {
  const [own, wanted] = [row, first].map(({ input }) => input.account ?? "left out");
  return own === wanted
    ? []
    : [
        rowFault(
          row.row,
          "account",
          `is ${own}, and in row ${first.row} ${wanted}: give each account a file of its own`,
        ),
      ];
};

/**
 * Refuse what `checkBatchFile` cannot have returned: a batch id that its chunks do not make.
 *
 * @throws Refused
 */
export const checkBatchId = ({ batch, chunks, file }: CheckedFile): void => {
  if (batch !== batchOfChunks(chunks))
    throw differs(file, `its batch is ${batchOfChunks(chunks)}, not ${batch}`);
};

/** What a row pays. */
export const amountOf = ({ input }: BatchRow): string =>
  // The check has seen to it.
  (input as { readonly payout: { readonly amount: string } }).payout.amount;

async function* rowsOf(file: string): AsyncGenerator<BatchRow> {
  for await (const raw of readRows(file)) {
    if ("fault" in raw || !isRecord(raw.value["payout"])) throw changed(file);
    yield batchRow(raw.row, raw.value);
  }
}

/**
 * Read a checked file once more, and compute again what was found when it was checked: an approval goes by
 * its totals, and whoever hands them on may have changed them.
 *
 * @param checked what `checkBatchFile` returns.
 * @returns the same chunks, one after the other.
 * @throws Refused where it is not what was checked; of totals and rows after the last chunk.
 */
export async function* chunksAgain(checked: CheckedFile): AsyncGenerator<Chunk> {
  const { chunks, file } = checked;
  checkBatchId(checked);
  const totals = new Totals();
  let number = 0;
  let rows = 0;
  for await (const chunk of chunksOf(rowsOf(file))) {
    if (chunk.hash !== chunks[number]) throw changed(file);
    number = chunk.number;
    rows += chunk.rows.length;
    for (const row of chunk.rows) totals.add(row.currency, amountOf(row));
    yield chunk;
  }
  if (number !== chunks.length) throw changed(file);
  if (rows !== checked.rows) throw differs(file, `it has ${rows} rows, not ${checked.rows}`);
  if (canonicalJson(totals.amounts) !== canonicalJson(checked.totals)) {
    throw differs(file, `it pays ${totalsText(totals.amounts)}, not ${totalsText(checked.totals)}`);
  }
}

const changed = (file: string) =>
  refused(`${file} was changed while it was read. Nothing was started.`);

const differs = (file: string, how: string) =>
  refused(`${file} is not what was checked: ${how}. Check it again. Nothing was started.`);
