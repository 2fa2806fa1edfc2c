import { didYouMean, type Fault, type OperationName } from "@durable-payments/client/effect";
import { operation } from "@durable-payments/client/contract";
import { cleanText, isRecord } from "@durable-payments/client/values";
import { CsvError, type Info, parse } from "csv-parse";
import { createReadStream } from "node:fs";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { invalidFields, invalidInput } from "../errors.ts";

/** A fault of a row. `row` is the line of the file on which it begins; `column` is empty if it is about the whole row. */
export interface RowFault extends Fault {
  readonly row: number;
  readonly column: string;
}

/** Names a fault by row and column. */
export const rowFault = (row: number, column: string, problem: string): RowFault => ({
  field: column === "" ? `row ${row}:` : `row ${row}, ${column}:`,
  problem,
  row,
  column,
});

/** A row in the shape of the file of one run, with its key; or its fault. */
export type RawRow =
  | { readonly row: number; readonly value: Fields }
  | { readonly fault: RowFault };

type Fields = Readonly<Record<string, unknown>>;

const broken = (row: number, problem: string): RawRow => ({ fault: rowFault(row, "", problem) });

/** Longest row, in characters: no payout or cardholder is longer. */
export const LONGEST_ROW = 50_000;

const TOO_LONG = `has more than ${LONGEST_ROW} characters`;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EISDIR: "it is a folder",
  EACCES: "it cannot be read: permission denied",
  UTF_16: "it is UTF-16. Save it as UTF-8 (PowerShell: “Out-File -Encoding utf8”)",
  ERR_ENCODING_INVALID_ENCODED_DATA:
    "it is not UTF-8. Save it as UTF-8 (a spreadsheet: “CSV UTF-8”)",
};

/** Returns why a file cannot be read. */
const whyUnreadable = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? code;
};

/** Text in UTF-16 has a zero in nearly each character; no such file in UTF-8 has any. */
const refuseUtf16 = (bytes: Buffer): void => {
  if (bytes.includes(0)) throw Object.assign(new Error("UTF-16"), { code: "UTF_16" });
};

/**
 * Returns the text of a file, or of standard input, piece by piece, with one kind of line end and no byte order mark.
 *
 * @throws InvalidInput if it cannot be read, or is not UTF-8: other bytes would become other letters, unnoticed.
 */
export async function* textOf(file: string, from: AsyncIterable<unknown> = createReadStream(file)) {
  // It removes the byte order mark.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  try {
    // A stream without an encoding gives bytes.
    for await (const bytes of from as AsyncIterable<Buffer>) {
      refuseUtf16(bytes);
      const text = held + decoder.decode(bytes, { stream: true });
      held = text.endsWith("\r") ? "\r" : "";
      yield text.slice(0, text.length - held.length).replaceAll("\r\n", "\n");
    }
    yield held + decoder.decode();
  } catch (error) {
    throw invalidInput(`Cannot read ${file}: ${whyUnreadable(error)}.`);
  }
}

const rowOf = (line: string, row: number): RawRow => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return broken(row, "is not valid JSON");
  }
  return isRecord(value)
    ? { row, value }
    : broken(row, "must be a JSON object like the file of one run, with a key");
};

/** The rows of a file that has a JSON object on each line. */
async function* jsonLines(file: string): AsyncGenerator<RawRow> {
  let row = 0;
  let rest = "";
  for await (const text of textOf(file)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      row += 1;
      if (line.trim() !== "") yield rowOf(line, row);
    }
    if (rest.length > LONGEST_ROW) {
      yield broken(row + 1, TOO_LONG);
      return;
    }
  }
  if (rest.trim() !== "") yield rowOf(rest, row + 1);
}

/** Fields that earlier steps or the run itself fill in. */
const FILLED_IN = new Set(["balance_id", "beneficiary_id", "card_holder_id", "unique_request_id"]);

const fieldsOf = (part: string, name: OperationName): ReadonlyArray<string> =>
  (operation(name).payload?.fields ?? []).flatMap((field) =>
    FILLED_IN.has(field) ? [] : [`${part}.${field}`],
  );

/** The workflows that a file may start. */
export type FileType = "payout" | "onboardCardholder";

/** The fields of the file of one run that may be columns of a CSV file. */
const FIELDS: Readonly<Record<FileType, ReadonlyArray<string>>> = {
  payout: [
    "beneficiary_id",
    ...fieldsOf("beneficiary", "createBeneficiary"),
    ...fieldsOf("payout", "createPayout"),
    "options.onLostBeneficiary",
    "options.approval.above",
    "options.completeWithin",
  ],
  onboardCardholder: [
    "card_holder_id",
    ...fieldsOf("cardholder", "createCardholder"),
    ...fieldsOf("card", "createCard"),
    "card.card_name",
    "options.onFailure",
    "options.verifyWithin",
    "options.fundWithin",
  ],
};

/** The columns of a CSV file, and where each belongs in the file of one run. */
const columnsOf = (type: FileType): ReadonlyMap<string, string> =>
  new Map(["key", "account", ...FIELDS[type]].map((path) => [columnOf(path), path]));

/** The column of a path in the file of one run: the path itself, without `payout.`, `cardholder.` or `card.`. */
export const columnOf = (path: string): string => path.replace(/^(?:payout|cardholder|card)\./, "");

/** Checks that the names of columns were separated by commas. @throws InvalidInput */
const checkCommas = (names: ReadonlyArray<string>): void => {
  if (names.length === 1 && /[;\t]/.test(names[0] ?? ""))
    throw invalidInput("The columns of a CSV file must be separated by commas.");
};

type Paths = ReadonlyArray<ReadonlyArray<string>>;

/** Returns the paths of the columns of a header. Throws with every unknown or repeated column. */
const pathsOf = (header: ReadonlyArray<string>, type: FileType): Paths => {
  const names = header.map(cleanText);
  const columns = columnsOf(type);
  // The first line may have data, and is then repeated nowhere.
  if (!names.some((name) => columns.has(name)))
    throw invalidInput(
      `The first line of a CSV file names its columns: ${[...columns.keys()].join(", ")}. Nothing was started.`,
    );
  const faults = names.flatMap((name, index) => {
    if (names.indexOf(name) < index) return [{ field: `column ${name}`, problem: "appears twice" }];
    if (columns.has(name)) return [];
    if (name === "") return [{ field: `column ${index + 1}`, problem: "has no name" }];
    return [
      { field: `column ${name}`, problem: `is unknown${didYouMean([name], [...columns.keys()])}` },
    ];
  });
  if (!names.includes("key")) faults.push({ field: "column key", problem: "is missing" });
  if (faults.length > 0)
    throw invalidFields("The header is invalid", faults, "Nothing was started.");
  return names.map((name) => (columns.get(name) ?? name).split("."));
};

type Nested = { [name: string]: Nested | number | string };

/** A field that the service takes as a number. */
const NUMBER = "card_holder_status";

/** A row in the shape of the file of one run; empty cells are left out. */
const valueOf = (cells: ReadonlyArray<string>, paths: Paths, type: FileType): Nested => {
  const value: Nested = { [type === "payout" ? "payout" : "card"]: {} };
  for (const [index, cell] of cells.entries()) {
    const path = paths[index] ?? [];
    const last = path.at(-1);
    if (cleanText(cell) === "" || last === undefined) continue;
    let within = value;
    for (const name of path.slice(0, -1)) {
      const next = within[name];
      within = typeof next === "object" ? next : (within[name] = {});
    }
    within[last] = last === NUMBER && /^ *-?\d *$/.test(cell) ? Number(cell) : cell;
  }
  return value;
};

/** The library's own messages would repeat the content of the cell. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: "has a quote that is never closed",
  CSV_MAX_RECORD_SIZE: `${TOO_LONG}: is a quote not closed?`,
  CSV_INVALID_CLOSING_QUOTE: "has text after a closing quote: quotes within a cell are doubled",
  INVALID_OPENING_QUOTE: "has a quote inside an unquoted cell",
};

/** Takes the header of a CSV file, and returns a function that reads the cells of a row. */
export type CsvReader = (header: ReadonlyArray<string>) => (cells: ReadonlyArray<string>) => Fields;

/** Reads payments or cardholders. */
export const runReader =
  (type: FileType): CsvReader =>
  (header) => {
    const paths = pathsOf(header, type);
    return (cells) => valueOf(cells, paths, type);
  };

/** The rows of a CSV file. If it is broken, the last one is the fault. */
async function* csvRows(file: string, readerOf: CsvReader): AsyncGenerator<RawRow> {
  const parser: unknown = Readable.from(textOf(file)).compose(
    parse({
      info: true,
      record_delimiter: "\n",
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: LONGEST_ROW,
    }),
  );
  let columns = 0;
  let read: ReturnType<CsvReader> | undefined;
  try {
    // The type of the parser's records with the option `info`.
    for await (const parsed of parser as AsyncIterable<{ info: Info; record: Array<string> }>) {
      const { info, record } = parsed;
      if (read === undefined) {
        checkCommas(record);
        read = readerOf(record);
        columns = record.length;
        continue;
      }
      // A spreadsheet writes emptied rows as commas.
      if (record.every((cell) => cell === "")) continue;
      const row = info.lines - (record.join("").split("\n").length - 1);
      yield record.length === columns
        ? { row, value: read(record) }
        : broken(
            row,
            `has ${record.length} cells, but the header has ${columns}: quote cells that contain commas`,
          );
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const lines: unknown = error["lines"];
    const problem = PROBLEMS[error.code] ?? "is not valid CSV";
    yield broken(typeof lines === "number" ? lines : 0, problem);
    return;
  }
  if (read === undefined) throw invalidInput(`${file} is empty: it must have a header and rows.`);
}

const READERS: Readonly<
  Record<string, (file: string, readerOf: CsvReader) => AsyncGenerator<RawRow>>
> = {
  ".csv": csvRows,
  ".jsonl": jsonLines,
  ".ndjson": jsonLines,
};

/** Whether a file has a row for each of many runs, by its extension. */
export const isBatchFile = (file: string): boolean => extname(file).toLowerCase() in READERS;

/**
 * Returns the rows of a file: of CSV, as `readerOf` reads them.
 *
 * @throws InvalidInput if it is neither CSV nor JSON Lines, by its extension.
 */
export const rowsOf = (file: string, readerOf: CsvReader): AsyncGenerator<RawRow> => {
  const read = READERS[extname(file).toLowerCase()];
  if (read !== undefined) return read(file, readerOf);
  throw invalidInput(`${file} must end in ${Object.keys(READERS).join(", ")}.`);
};
