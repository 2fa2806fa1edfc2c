import { isRecord } from "@durable-payments/client/values";
import { CsvError } from "csv-parse";
import { parse } from "csv-parse/sync";
import { extname } from "node:path";
import { invalidInput } from "../errors.ts";
import { jsonLines, textOf } from "./read-file.ts";

/** Whether a file has an amendment for each of some runs, by its extension. */
export const isAmendmentsFile = (file: string): boolean =>
  [".csv", ".jsonl", ".ndjson"].includes(extname(file).toLowerCase());

type Nested = { [name: string]: unknown };

/** A patch of the cells that are not empty: a column is the path of a field, such as `card.card_limit`. */
const patchOf = (cells: Readonly<Record<string, string>>): Nested => {
  const patch: Nested = {};
  for (const [path, cell] of Object.entries(cells)) {
    const names = path.trim().split(".");
    const last = names.pop() ?? "";
    if (cell.trim() === "") continue;
    let within = patch;
    for (const name of names) {
      const next = within[name];
      const inner: Nested = isRecord(next) ? next : {};
      within[name] = inner;
      within = inner;
    }
    within[last] = cell.trim();
  }
  return patch;
};

const csvPatches = async (file: string): Promise<ReadonlyArray<Nested>> => {
  let text = "";
  for await (const part of textOf(file)) text += part;
  try {
    const rows: ReadonlyArray<Readonly<Record<string, string>>> = parse(text, {
      columns: true,
      skip_empty_lines: true,
    });
    return rows.map(patchOf);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The library's own messages would repeat the content of a cell.
    throw invalidInput(`${file} is not valid CSV (${error.code}). Nothing was done.`);
  }
};

const jsonPatches = async (file: string): Promise<ReadonlyArray<Nested>> => {
  const patches: Array<Nested> = [];
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
  if (byId.size === 0) throw invalidInput(`${file} has no amendment. Nothing was done.`);
  return Object.fromEntries(byId);
};
