import type { Fault } from "@durable-payments/api-core";

/** A fault of a batch file: where, and which rule it breaks. */
export interface RowFault extends Fault {
  /** Line of the file on which the row begins. */
  readonly row: number;
  /** Column of a CSV file, path in a line of JSON; empty where it is about the whole row. */
  readonly column: string;
}

/** Name a fault by row and column. */
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
