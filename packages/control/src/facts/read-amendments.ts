import { isRecord } from "@durable-payments/client/values";
import { mergePatch } from "@durable-payments/protocol";
import { invalidFields, invalidInput } from "../errors.ts";
import { type CsvReader, rowsOf } from "./read-file.ts";

type Patch = Readonly<Record<string, unknown>>;

/** A patch of the cells that are not empty: a column is the path of a field, such as `card.card_limit`. */
const patchOf = (columns: ReadonlyArray<string>, cells: ReadonlyArray<string>): Patch =>
  cells.reduce<Patch>((patch, cell, at) => {
    if (cell.trim() === "") return patch;
    const names = (columns[at] ?? "").split(".");
    // Made as properties of their own: a column such as `__proto__.amount` would change every object.
    const one = names.reduceRight<unknown>(
      (value, name) => Object.fromEntries([[name, value]]),
      cell.trim(),
    );
    const merged = mergePatch(patch, one);
    return isRecord(merged) ? merged : patch;
  }, {});

/** Reads amendments. @throws InvalidInput for a column that is named twice. */
const patchReader: CsvReader = (header) => {
  const columns = header.map((name) => name.trim());
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice === undefined) return (cells) => patchOf(columns, cells);
  throw invalidInput(`The file names the column ${twice} twice. Nothing was done.`);
};

/**
 * Reads a file with one merge patch for each of some runs: CSV with the columns `id` and paths of fields, or JSON Lines with
 * `id` and the fields that change.
 *
 * @returns the patches by workflow id.
 * @throws InvalidInput if a line has no id, an id appears twice, or the file cannot be read.
 */
export const readAmendments = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  const byId = new Map<string, unknown>();
  for await (const read of rowsOf(file, patchReader)) {
    if ("fault" in read)
      throw invalidFields(`Cannot read ${file}`, [read.fault], "Nothing was done.");
    const { id, ...patch } = read.value;
    const fault = (problem: string) =>
      invalidInput(`${file}: amendment ${byId.size + 1} ${problem}. Nothing was done.`);
    if (typeof id !== "string" || id === "") throw fault("has no id: give the workflow id");
    if (byId.has(id)) throw fault(`is the second one of ${id}`);
    byId.set(id, patch);
  }
  if (byId.size === 0) throw invalidInput(`${file} has no amendments. Nothing was done.`);
  return Object.fromEntries(byId);
};
