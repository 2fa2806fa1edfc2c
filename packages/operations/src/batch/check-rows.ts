import { rowWorkflowId } from "@durable-payments/activities/payout-content";
import type { Assumptions } from "@durable-payments/api-core";
import { visibleText } from "@durable-payments/api-core/values";
import type { BatchRow, PayoutInput } from "@durable-payments/protocol";
import { createHash } from "node:crypto";
import { extname } from "node:path";
import { InvalidInput, invalidInput } from "../errors.ts";
import { makePayoutCheck, plannedPayout } from "../input/payout.ts";
import { columnOf } from "./columns.ts";
import { withoutFormulas } from "./formulas.ts";
import { csvRows } from "./csv-rows.ts";
import { jsonLines } from "./json-rows.ts";
import { LONGEST_ROW, type RawRow, type RowFault, rowFault } from "./raw-rows.ts";

const READERS: Readonly<Record<string, (file: string) => AsyncGenerator<RawRow>>> = {
  ".csv": csvRows,
  ".jsonl": jsonLines,
  ".ndjson": jsonLines,
};

/**
 * Read a batch file by the kind that its extension names.
 *
 * @throws InvalidInput
 */
export const readRows = (file: string): AsyncGenerator<RawRow> => {
  const reader = READERS[extname(file).toLowerCase()];
  if (reader === undefined) {
    throw invalidInput(
      `${file} must end in ${Object.keys(READERS).join(", ")}: its extension names its kind.`,
    );
  }
  return reader(file);
};

/**
 * Read the key of a row. A quote before what a spreadsheet takes for the begin of a formula is not
 * part of it: result files write one there, and a key copied from one must name the same payment.
 */
const keyOf = (key: unknown): unknown =>
  typeof key === "string" ? key.replace(/^'+(?=[-=+@\uFF0B\uFF0D\uFF1D\uFF20])/, "") : key;

const LONGEST_KEY = 200;

const keyProblem = (key: unknown): string | undefined => {
  if (key === undefined)
    return "is required: the row's own, which is never used for another payment";
  if (typeof key !== "string") return "must be a string";
  // A result file has it as it is: what it would change there would be read back as another key.
  const isPlain =
    /^[^\s"\\](?:[^"\\]*[^\s"\\])?$/u.test(key) && visibleText(withoutFormulas(key)) === key;
  return isPlain && key.length <= LONGEST_KEY
    ? undefined
    : `must have 1 to ${LONGEST_KEY} visible characters, no quotes, backslashes or formulas behind a semicolon, and no blanks around it`;
};

/** What becomes of a row without faults. */
export const batchRow = (row: number, value: Readonly<Record<string, unknown>>): BatchRow => {
  const { key: given, ...payment } = value;
  // Both have been checked.
  const { contentId, input, summary } = plannedPayout(payment as unknown as PayoutInput);
  const key = keyOf(given) as string;
  return {
    row,
    key,
    workflowId: rowWorkflowId(key),
    fingerprint: contentId,
    currency: input.payout.currency,
    summary,
    input,
  };
};

/** Hash a text, so that texts are compared in little memory. */
export const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64").slice(0, 22);

/**
 * Make the check of a file's rows: the payment by the schemas of a single payout, and the key,
 * which is the file's own. It keeps a digest of each key, and nothing else of a row.
 */
export const makeRowCheck = (isCsv: boolean, assumptions: Assumptions) => {
  const checkPayment = makePayoutCheck(assumptions);
  const usedBy = new Map<string, number>();

  const paymentFaults = (row: number, input: unknown): ReadonlyArray<RowFault> => {
    try {
      checkPayment(input);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidInput) || error.faults === undefined) throw error;
      return error.faults.map(({ field, problem }) =>
        rowFault(row, isCsv ? columnOf(field) : field, problem),
      );
    }
  };

  const keyFaults = (row: number, given: unknown): ReadonlyArray<RowFault> => {
    const key = keyOf(given);
    const problem = keyProblem(key);
    if (typeof key !== "string" || problem !== undefined)
      return [rowFault(row, "key", problem ?? "")];
    const digest = digestOf(key);
    const first = usedBy.get(digest);
    if (first !== undefined) return [rowFault(row, "key", `is that of row ${first} already`)];
    usedBy.set(digest, row);
    return [];
  };

  /** The faults of a row; none where it can be paid. */
  return (row: number, { key, ...input }: Readonly<Record<string, unknown>>) => {
    const faults = [...keyFaults(row, key), ...paymentFaults(row, input)];
    if (faults.length > 0 || isCsv) return faults;
    return JSON.stringify(input).length > LONGEST_ROW
      ? [rowFault(row, "", `has more than ${LONGEST_ROW} characters`)]
      : [];
  };
};
