import { Readable } from "node:stream";
import { CsvError, type Info, parse } from "csv-parse";
import { invalidInput } from "../errors.ts";
import { pathsOf } from "./columns.ts";
import { LONGEST_ROW, type RawRow, rowFault, textOf } from "./read-rows.ts";

type Nested = { [name: string]: Nested | string };

/** A row in the shape of a payout file; empty cells are left out. */
const valueOf = (
  cells: ReadonlyArray<string>,
  paths: ReadonlyArray<ReadonlyArray<string>>,
): Nested => {
  const value: Nested = { payout: {} };
  for (const [index, cell] of cells.entries()) {
    const path = paths[index] ?? [];
    const last = path.at(-1);
    if (cell === "" || last === undefined) continue;
    let within = value;
    for (const name of path.slice(0, -1)) {
      const next = within[name];
      within = typeof next === "object" ? next : (within[name] = {});
    }
    within[last] = cell;
  }
  return value;
};

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  CSV_MAX_RECORD_SIZE: `has more than ${LONGEST_ROW} characters: is a quote not closed?`,
  CSV_INVALID_CLOSING_QUOTE: "has text behind a closing quote: quotes within a cell are doubled",
  INVALID_OPENING_QUOTE: "has a quote within a cell that is not quoted as a whole",
};

/** The library's own message would repeat what the cell holds. */
const faultOf = (error: CsvError): RawRow => {
  const lines: unknown = error["lines"];
  const problem = PROBLEMS[error.code] ?? "is no valid CSV";
  return { fault: rowFault(typeof lines === "number" ? lines : 0, "", problem) };
};

const lineEnds = (cells: ReadonlyArray<string>): number =>
  cells.reduce((count, cell) => count + cell.split("\n").length - 1, 0);

/** The rows of a CSV file. Where it is broken, the last one is the fault. */
export async function* csvRows(file: string): AsyncGenerator<RawRow> {
  const parser: unknown = Readable.from(textOf(file)).compose(
    parse({
      info: true,
      record_delimiter: "\n",
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: LONGEST_ROW,
    }),
  );
  let paths: ReadonlyArray<ReadonlyArray<string>> | undefined;
  try {
    // What the parser gives with `info`.
    for await (const parsed of parser as AsyncIterable<{ info: Info; record: Array<string> }>) {
      const { info, record } = parsed;
      if (paths === undefined) {
        paths = pathsOf(record);
        continue;
      }
      // A spreadsheet writes emptied rows as commas.
      if (record.every((cell) => cell === "")) continue;
      const row = info.lines - lineEnds(record);
      yield record.length === paths.length
        ? { row, value: valueOf(record, paths) }
        : {
            fault: rowFault(
              row,
              "",
              `has ${record.length} cells, the header has ${paths.length}: quote cells with commas`,
            ),
          };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield faultOf(error);
    return;
  }
  if (paths === undefined) throw invalidInput(`${file} is empty: it must have a header and rows.`);
}
