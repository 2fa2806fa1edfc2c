import { shownText, visibleJson, visibleText } from "@durable-payments/api-core/values";
import type { Journal } from "@durable-payments/journal";
import type { BatchRow } from "@durable-payments/protocol";
import { stringify } from "csv-stringify/sync";
import * as Effect from "effect/Effect";
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { extname } from "node:path";
import type { Temporal } from "../connection/temporal.ts";
import { invalidInput, type NextOperation, refused } from "../errors.ts";
import { withoutFormulas } from "./formulas.ts";
import { findRuns } from "./latest-runs.ts";
import { outcomeOf, type RowOutcome } from "./row-outcome.ts";

const FIELDS = [
  "row",
  "key",
  "workflow_id",
  "run_id",
  "payout_id",
  "state",
  "reason",
  "amount",
  "currency",
  "reference",
  "beneficiary",
  "completed_at",
  "failure",
] as const satisfies ReadonlyArray<keyof Omit<RowOutcome, "next">>;

interface Format {
  readonly head: string;
  readonly line: (outcome: Omit<RowOutcome, "next">) => string;
}

/**
 * Write the line of a row in a CSV file, in which a spreadsheet finds no formula (see `keyOf`), a terminal no
 * command, and a reader no column that a row of blanks has made. An id and a key have several blanks as they are.
 */
export const csvLine = (outcome: Omit<RowOutcome, "next">): string =>
  stringify(
    [
      FIELDS.map((field) => {
        const cell = outcome[field];
        if (typeof cell !== "string") return cell;
        const isName = field === "workflow_id" || field === "key";
        return withoutFormulas(isName ? visibleText(cell) : shownText(cell));
      }),
    ],
    { escape_formulas: true, quoted_match: /\r/ },
  );

const JSON_LINES: Format = { head: "", line: (outcome) => `${visibleJson(outcome)}\n` };

const FORMATS: Readonly<Record<string, Format>> = {
  ".csv": { head: `${FIELDS.join()}\n`, line: csvLine },
  ".jsonl": JSON_LINES,
  ".ndjson": JSON_LINES,
};

/**
 * Read the format that a result file's extension names.
 *
 * @throws InvalidInput
 */
const formatOf = (file: string): Format => {
  const format = FORMATS[extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw invalidInput(`The result file must end in ${Object.keys(FORMATS).join(", ")}.`);
};

/**
 * Check the name of a result file before anything is started.
 *
 * @param file its path; undefined where none is written.
 * @throws InvalidInput where its ending is no format that can be written.
 */
export const checkResultFile = (file: string | undefined): void => {
  if (file !== undefined) formatOf(file);
};

const ASKED_AT_ONCE = 16;

/** How a result file is written. */
export interface ResultFileOptions {
  /** `.csv`, `.jsonl` or `.ndjson`. */
  readonly file: string;
  /** Where it can be read, it has rows that Temporal has forgotten. */
  readonly journal: Journal | undefined;
  /** Words what to do next, behind the reason of a row. */
  readonly wordNext?: (next: NextOperation) => string;
}

/**
 * Write what became of each row, in the memory of one chunk. The file appears when it is whole; one
 * of that name is replaced.
 *
 * @param temporal the connection of `withTemporal`.
 * @param chunks what `rowsOfFile` or `rowsOfBatch` returns.
 * @param options the file, the journal where it can be read, and how a next operation is worded.
 * @throws InvalidInput where the file's name is wrong; Refused where it cannot be written.
 */
export const writeResultFile = async (
  temporal: Temporal,
  chunks: AsyncIterable<ReadonlyArray<BatchRow>>,
  { file, journal, wordNext = () => "" }: ResultFileOptions,
): Promise<void> => {
  const { head, line } = formatOf(file);
  const part = `${file}.${randomUUID()}.part`;
  const written = ({ next, reason, ...outcome }: RowOutcome): string =>
    line({
      ...outcome,
      reason: `${reason} ${next === undefined ? "" : wordNext(next)}`.trim(),
    });
  try {
    const handle = await open(part, "w", 0o600);
    try {
      await handle.write(head);
      for await (const rows of chunks) {
        const runs = await findRuns(
          temporal,
          rows.map(({ workflowId }) => workflowId),
        );
        const outcomes = await Effect.runPromise(
          Effect.forEach(
            rows,
            (row) =>
              Effect.promise(() => outcomeOf(temporal, row, runs.get(row.workflowId), journal)),
            { concurrency: ASKED_AT_ONCE },
          ),
        );
        await handle.write(outcomes.map(written).join(""));
      }
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw typeof code === "string" && /^E[A-Z]+$/.test(code)
      ? refused(`Cannot write ${file}: ${code}.`)
      : error;
  }
};
