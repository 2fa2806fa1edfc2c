import type { Fault } from "@durable-payments/api-core";
import { isRecord } from "@durable-payments/api-core/values";
import { createReadStream } from "node:fs";
import { invalidInput } from "../errors.ts";

/** A fault of a row (the line of the file on which it begins), and of a column where it is not about the whole row. */
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

/** A row as the file has it, in the shape of a payout file and with its key; or why it has none. */
export type RawRow =
  | { readonly row: number; readonly value: Readonly<Record<string, unknown>> }
  | { readonly fault: RowFault };

/** Longest row, in characters: what exceeds it is no payout. */
export const LONGEST_ROW = 50_000;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
    return "it is not UTF-8. Save it as UTF-8 (a spreadsheet: “CSV UTF-8”)";
  }
  return REASONS[code] ?? code;
};

/**
 * The text of a file, piece by piece, with one kind of line end and no byte order mark.
 *
 * @throws InvalidInput where it cannot be read or is not UTF-8
 */
export async function* textOf(file: string): AsyncGenerator<string> {
  // The first of these takes the byte order mark away.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  try {
    for await (const bytes of createReadStream(file)) {
      // A stream without an encoding gives bytes.
      const text = held + decoder.decode(bytes as Buffer, { stream: true });
      held = text.endsWith("\r") ? "\r" : "";
      yield text.slice(0, text.length - held.length).replaceAll("\r\n", "\n");
    }
    yield held + decoder.decode();
  } catch (error) {
    throw invalidInput(`Cannot read ${file}: ${reasonOf(error)}.`);
  }
}

const rowOf = (line: string, row: number): RawRow => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: rowFault(row, "", "is no valid JSON") };
  }
  return isRecord(value)
    ? { row, value }
    : { fault: rowFault(row, "", "must be a JSON object, as a payout file has it, with a key") };
};

/** The rows of a file that has a JSON object on each line. */
export async function* jsonLines(file: string): AsyncGenerator<RawRow> {
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
      yield { fault: rowFault(row + 1, "", `has more than ${LONGEST_ROW} characters`) };
      return;
    }
  }
  if (rest.trim() !== "") yield rowOf(rest, row + 1);
}
