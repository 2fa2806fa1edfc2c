import { isRecord } from "@durable-payments/client/values";
import { mergePatch } from "@durable-payments/protocol";
import { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import { extname } from "node:path";
import { invalidInput } from "../errors.ts";
import { checkCommas, jsonLines, textOf } from "./read-file.ts";

/** Whether a file has an amendment for each of some runs, by its extension. */
export const isAmendmentsFile = (file: string): boolean =>
  [".csv", ".jsonl", ".ndjson"].includes(extname(file).toLowerCase());

type Patch = Readonly<Record<string, unknown>>;

/** A patch of the cells that are not empty: a column is the path of a field, such as `card.card_limit`. */
const patchOf = (cells: Readonly<Record<string, string>>): Patch =>
  Object.entries(cells).reduce<Patch>((patch, [path, cell]) => {
    if (cell.trim() === "") return patch;
    const names = path.split(".");
    // Made as properties of their own: a column such as `__proto__.amount` would change every object.
    const one = names.reduceRight<unknown>(
      (value, name) => Object.fromEntries([[name, value]]),
      cell.trim(),
    );
    const merged = mergePatch(patch, one);
    return isRecord(merged) ? merged : patch;
  }, {});

/** Returns the names of the columns. @throws InvalidInput for a name that is given twice. */
const columnsOf = (header: ReadonlyArray<string>): Array<string> => {
  const names = header.map((name) => name.trim());
  checkCommas(names);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return names;
  throw invalidInput(`The file names the column ${twice} twice. Nothing was done.`);
};

const csvPatches = async (file: string): Promise<ReadonlyArray<Patch>> => {
  let text = "";
  for await (const part of textOf(file)) text += part;
  try {
    const rows: ReadonlyArray<Readonly<Record<string, string>>> = parse(text, {
      columns: columnsOf,
      skip_empty_lines: true,
    });
    return rows.map(patchOf);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The library's own messages would repeat the content of a cell.
    const is =
      error.code === "CSV_RECORD_INCONSISTENT_COLUMNS"
        ? `: line ${String(error["lines"])} does not have as many cells as the header. Quote cells that contain commas`
        : ` is not valid CSV (${error.code})`;
    throw invalidInput(`${file}${is}. Nothing was done.`);
  }
};

const jsonPatches = async (file: string): Promise<ReadonlyArray<Patch>> => {
  const patches: Array<Patch> = [];
  for await (const read of jsonLines(file)) {
    if ("fault" in read)
      throw invalidInput(`${file} is not JSON Lines. Nothing was done.`, [read.fault]);
    patches.push({ ...read.value });
  }
  return patches;
};

/**
 * Reads a file with one merge patch for each of some runs: CSV with the columns `id` and paths of fields, or JSON Lines with
 * `id` and the fields that change.
 *
 * @returns the patches by workflow id.
 * @throws InvalidInput if a line has no id, an id appears twice, or the file cannot be read.
 */
export const readAmendments = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  const isCsv = extname(file).toLowerCase() === ".csv";
  const patches = await (isCsv ? csvPatches(file) : jsonPatches(file));
  const byId = new Map<string, unknown>();
  for (const [at, { id, ...patch }] of patches.entries()) {
    const fault = (problem: string) =>
      invalidInput(`${file}: amendment ${at + 1} ${problem}. Nothing was done.`);
    if (typeof id !== "string" || id === "") throw fault("has no id: give the workflow id");
    if (byId.has(id)) throw fault(`is the second one of ${id}`);
    byId.set(id, patch);
  }
  if (byId.size === 0) throw invalidInput(`${file} has no amendments. Nothing was done.`);
  return Object.fromEntries(byId);
};
