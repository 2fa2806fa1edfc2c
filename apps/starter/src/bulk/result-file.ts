import { readChunk } from "@durable-payments/activities/batch-chunks";
import type { Journal } from "@durable-payments/journal";
import { type BatchRow, chunkId } from "@durable-payments/protocol";
import * as Effect from "effect/Effect";
import { open, rename, rm } from "node:fs/promises";
import { extname } from "node:path";
import { withJournalOrNot } from "../connection/journal.ts";
import type { Temporal } from "../connection/temporal.ts";
import { badInput } from "../errors.ts";
import { describeRun } from "../runs/run-state.ts";
import { memoOf } from "./batch-report.ts";
import { findRuns } from "./found-runs.ts";
import { outcomeOf, type RowOutcome } from "./row-outcome.ts";

const FIELDS = [
  "row",
  "key",
  "workflow_id",
  "run_id",
  "payout_id",
  "status",
  "reason",
] as const satisfies ReadonlyArray<keyof RowOutcome>;

const quoted = (value: string | number): string => {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

interface Format {
  readonly head: string;
  readonly line: (outcome: RowOutcome) => string;
}

const JSON_LINES: Format = { head: "", line: (outcome) => `${JSON.stringify(outcome)}\n` };

const FORMATS: Readonly<Record<string, Format>> = {
  ".csv": {
    head: `${FIELDS.join()}\n`,
    line: (outcome) => `${FIELDS.map((field) => quoted(outcome[field])).join()}\n`,
  },
  ".jsonl": JSON_LINES,
  ".ndjson": JSON_LINES,
};

/**
 * The format that a result file's name tells.
 *
 * @throws BadInput
 */
const formatOf = (file: string): Format => {
  const format = FORMATS[extname(file).toLowerCase()];
  if (format !== undefined) return format;
  throw badInput(`--result must end in ${Object.keys(FORMATS).join(", ")}.`);
};

/** Says early that a result file's name is wrong. */
export const checkResultFile = (file: string | undefined): void => {
  if (file !== undefined) formatOf(file);
};

/** The rows of a bulk run, chunk by chunk, as they are kept in Temporal. */
export async function* rowsOfBatch(
  temporal: Temporal,
  batch: string,
): AsyncGenerator<ReadonlyArray<BatchRow>> {
  const { chunks } = memoOf(await describeRun(temporal, batch));
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    yield await readChunk(temporal.client, chunkId(batch, chunk));
  }
}

const ASKED_AT_ONCE = 16;

/**
 * Writes what became of each row, in the memory of one chunk. The file appears when it is whole; one
 * of that name is replaced. The journal, where it can be read here, tells of rows that Temporal has
 * forgotten.
 */
export const writeResultFile = async (
  temporal: Temporal,
  chunks: () => AsyncIterable<ReadonlyArray<BatchRow>>,
  file: string,
): Promise<void> => {
  await withJournalOrNot(({ journal }) => write(temporal, chunks(), { file, journal }));
};

const write = async (
  temporal: Temporal,
  chunks: AsyncIterable<ReadonlyArray<BatchRow>>,
  { file, journal }: { readonly file: string; readonly journal: Journal | undefined },
): Promise<void> => {
  const { head, line } = formatOf(file);
  const part = `${file}.${process.pid}.part`;
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
        await handle.write(outcomes.map(line).join(""));
      }
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    throw typeof code === "string" && /^E[A-Z]+$/.test(code)
      ? badInput(`Cannot write ${file}: ${code}.`)
      : error;
  }
};
