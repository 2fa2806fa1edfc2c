import type { BatchRow } from "@durable-payments/protocol";
import { ApplicationFailure } from "@temporalio/common";
import { setTimeout as sleep } from "node:timers/promises";
import { withJournalOrNot } from "../connection/journal.ts";
import type { Temporal } from "../connection/temporal.ts";
import { withTemporal } from "../connection/temporal.ts";
import { badInput, EXIT_CODES, StarterError } from "../errors.ts";
import { commandLine } from "../output/command-line.ts";
import type { Output } from "../output/output.ts";
import { columns, duration, wrap } from "../output/text.ts";
import { compareFunds, type Funds } from "./balances.ts";
import { batchExitCode, type BatchReport, reportBatch, unpaid } from "./batch-report.ts";
import { batchText, countsText } from "./batch-text.ts";
import { checkBulkFile, type CheckedFile, chunksAgain } from "./check-bulk-file.ts";
import { findKnownRows, type KnownRows } from "./known-rows.ts";
import { overruled, rejectionText } from "./rejections.ts";
import { checkResultFile, rowsOfBatch, writeResultFile } from "./result-file.ts";
import { readRetention } from "./retention.ts";
import { countRows, type RowCounts, underWay } from "./row-counts.ts";
import { type BatchOptions, findBatch, startBatch, uploadChunks } from "./start-batch.ts";
import { totalsText } from "./totals.ts";
import { awaitBatch } from "./watch-batch.ts";

/** What `starter payouts import` is told. */
export interface ImportFlags extends BatchOptions {
  readonly file: string;
  readonly dryRun: boolean;
  /** Why rows are paid after all that a person has rejected. */
  readonly overrule: string | undefined;
  readonly wait: boolean;
  readonly result: string | undefined;
}

/** Shows a count on the way; not each row, which would take longer than the work. */
const counting =
  (output: Output, what: string, every = 1_000) =>
  (count: number): void => {
    if (count % every === 0) output.live(`… ${what} ${count}`);
  };

/** What Temporal and the journal know of a file's rows. */
interface Found extends KnownRows {
  /** Why the journal was not asked. */
  readonly whyNoJournal?: string;
}

const known = async (temporal: Temporal, checked: CheckedFile, output: Output): Promise<Found> => {
  const onRow = (rows: number) => output.live(`… looked up row ${rows} of ${checked.rows}`);
  return withJournalOrNot(async (found) => ({
    ...(await findKnownRows(temporal, checked, onRow, found.journal)),
    ...("whyNot" in found && { whyNoJournal: found.whyNot }),
  }));
};

/** What the journal says of rows that Temporal does not know, or has forgotten. */
const paidBeforeText = ({ paidBefore, whyNoJournal = "" }: Found): string =>
  paidBefore === null
    ? `whether new rows were paid before is not known here (${whyNoJournal}); the worker's journal knows`
    : `${paidBefore === 0 ? "none" : paidBefore} of the new rows, as the journal knows; none is paid again`;

/** What the journal says of new rows that were sent, and had no answer; nothing where there are none. */
const inDoubtText = ({ inDoubt }: Found): string =>
  inDoubt === null || inDoubt === 0
    ? ""
    : `${inDoubt} of the new rows: sent before, and the journal has no answer; each is looked up first, and a person is asked where that is unclear`;

const fundsText = ({ available, currency, isEnough, problem, total }: Funds): string => {
  if (available === null) return `${total} ${currency}; balance ${problem ?? "not known"}`;
  return `${total} ${currency} of ${available}${isEnough ? "" : ": not enough"}`;
};

/** What Temporal knows of a file's rows, and for how long after their end. */
interface Memory extends Found {
  readonly retentionMs: number;
}

const dryRunText = (
  { batch, rows }: CheckedFile,
  funds: ReadonlyArray<Funds>,
  found: Memory | undefined,
): string =>
  `${found?.rejected.length ? "Rows of it were rejected by a person" : "Every row is sound"}. Nothing was started.\n${columns(
    [
      ["id", batch],
      ["rows", String(rows)],
      ...funds.map((one) => ["total", fundsText(one)] as const),
      ...(found === undefined
        ? []
        : [
            ["known", `${found.known} rows`] as const,
            [
              "new",
              found.new === 0 ? "none" : `${found.new} rows, lines ${found.newRows}`,
            ] as const,
            ["paid before", paidBeforeText(found)] as const,
            ...(inDoubtText(found) === "" ? [] : [["in doubt", inDoubtText(found)] as const]),
            ...found.rejected.map((rejection) => ["rejected", rejectionText(rejection)] as const),
            [
              "keys",
              `known for ${duration(found.retentionMs)} after a payout's end: the namespace's retention`,
            ] as const,
          ]),
    ],
  )}`;

const dryRun = async (
  output: Output,
  checked: CheckedFile,
  { overrule }: ImportFlags,
): Promise<number> => {
  const funds = await compareFunds(checked.totals);
  let found: Memory | undefined;
  let unreached: StarterError | undefined;
  try {
    found = await withTemporal(async (temporal) => ({
      ...(await known(temporal, checked, output)),
      retentionMs: await readRetention(temporal),
    }));
  } catch (error) {
    // What is known without Temporal is told all the same.
    if (!(error instanceof StarterError) || error.exitCode !== EXIT_CODES.cannotConnect)
      throw error;
    unreached = error;
    output.say(wrap(`Which rows are known could not be looked up. ${error.message}`));
  }
  const { batch, rows, totals } = checked;
  output.answer(
    {
      status: "checked",
      workflowId: batch,
      rows,
      totals,
      funds,
      known: found?.known ?? null,
      new: found?.new ?? null,
      newRows: found?.newRows ?? null,
      paidBefore: found?.paidBefore ?? null,
      inDoubt: found?.inDoubt ?? null,
      rejected: found?.rejected ?? null,
      retentionMs: found?.retentionMs ?? null,
    },
    () => dryRunText(checked, funds, found),
  );
  const isRefused = overrule === undefined && (found?.rejected ?? []).length > 0;
  return unreached?.exitCode ?? (isRefused ? EXIT_CODES.badInput : EXIT_CODES.done);
};

const answerReport = (
  output: Output,
  report: BatchReport,
  resultFile: string | undefined,
): number => {
  output.answer({ ...report, ...(resultFile !== undefined && { resultFile }) }, () =>
    [
      batchText(report),
      ...(resultFile === undefined ? [] : [`The result of each row: ${resultFile}`]),
      ...(report.status === "running"
        ? [`See it: ${commandLine("payouts", "status", report.workflowId)}`]
        : []),
    ].join("\n"),
  );
  return batchExitCode(report);
};

const COUNT_AGAIN_MS = 5_000;

/** Counts rows; after the end of all their runs if asked to. */
const countedRows = async (
  temporal: Temporal,
  batch: string,
  chunks: () => AsyncIterable<ReadonlyArray<BatchRow>>,
  { output, wait }: { readonly output: Output; readonly wait: boolean },
): Promise<RowCounts> => {
  for (;;) {
    const counts = await countRows(temporal, chunks(), batch);
    const open = underWay(counts.own) + underWay(counts.others);
    if (!wait || open === 0) return counts;
    output.live(`… ${open} rows that other files started, or that were retried, are under way`);
    await sleep(COUNT_AGAIN_MS);
  }
};

/** What is known of the rows of a bulk run that has ended, where its counts alone do not tell it. */
const withRows = async (
  temporal: Temporal,
  report: BatchReport,
  waiting: { readonly output: Output; readonly wait: boolean },
): Promise<BatchReport> => {
  const { progress, runs, status, workflowId } = report;
  const isTold = unpaid(runs) + underWay(runs) === 0 && (progress?.known ?? 0) === 0;
  if (status === "running" || isTold) return report;
  try {
    const rows = () => rowsOfBatch(temporal, workflowId);
    const { others, own } = await countedRows(temporal, workflowId, rows, waiting);
    return { ...report, runs: own, others };
  } catch (error) {
    // Its rows are kept no longer than its runs; what is counted by them alone is told all the same.
    if (error instanceof ApplicationFailure && error.type === "ChunkMissing") return report;
    throw error;
  }
};

/** Reports a bulk run, after its end if asked to, and writes what became of each row. */
export const reportOn = async (
  temporal: Temporal,
  batch: string,
  output: Output,
  { result, wait }: Pick<ImportFlags, "result" | "wait">,
): Promise<number> => {
  const ended = wait
    ? await awaitBatch(temporal, batch, output)
    : await reportBatch(temporal, batch);
  const report = await withRows(temporal, ended, { output, wait });
  if (result !== undefined) {
    output.live(`… writing ${result}`);
    await writeResultFile(temporal, () => rowsOfBatch(temporal, batch), result);
  }
  return answerReport(output, report, result);
};

async function* rowsOfFile(checked: CheckedFile) {
  for await (const { rows } of chunksAgain(checked)) yield rows;
}

/** Nothing is to be started: each row has its run, of other files. */
const answerNothingNew = async (
  temporal: Temporal,
  checked: CheckedFile,
  output: Output,
  { result, wait }: Pick<ImportFlags, "result" | "wait">,
): Promise<number> => {
  const { batch, rows, totals } = checked;
  const chunks = () => rowsOfFile(checked);
  const { others } = await countedRows(temporal, batch, chunks, { output, wait });
  if (result !== undefined) await writeResultFile(temporal, chunks, result);
  output.live(undefined);
  output.answer(
    { status: "nothingNew", workflowId: batch, rows, totals, known: rows, new: 0, others },
    () =>
      wrap(
        `Each of the ${rows} rows is known: nothing was started. Of them ${countsText(others)}.`,
      ),
  );
  return unpaid(others) === 0 ? EXIT_CODES.done : EXIT_CODES.runFailed;
};

const submit = async (
  temporal: Temporal,
  checked: CheckedFile,
  output: Output,
  flags: ImportFlags,
): Promise<number> => {
  const { batch, chunks, rows, totals } = checked;
  const before = await findBatch(temporal, batch);
  if (before?.status.name === "RUNNING") {
    output.say(`This file is being paid already: ${batch}. Nothing was started.`);
    return await reportOn(temporal, batch, output, flags);
  }
  const found = await known(temporal, checked, output);
  if (found.new === 0) {
    if (before === undefined) return await answerNothingNew(temporal, checked, output, flags);
    output.say(`Each row of this file has its run already: ${batch}. Nothing was started.`);
    return await reportOn(temporal, batch, output, flags);
  }
  const overruling = overruled(found.rejected, { by: flags.startedBy, why: flags.overrule });
  if (found.known > 0) {
    output.say(
      wrap(`${found.known} rows are known; ${found.new} are new: lines ${found.newRows}.`),
    );
  }
  if (found.paidBefore !== 0) output.say(wrap(`Paid before: ${paidBeforeText(found)}.`));
  if (inDoubtText(found) !== "") output.say(wrap(`In doubt: ${inDoubtText(found)}.`));
  output.onInterrupt = () =>
    output.say("Nothing was started. The same command goes on where this one stopped.");
  await uploadChunks(temporal, checked, (chunk) =>
    output.live(`… wrote chunk ${chunk} of ${chunks.length}`),
  );
  output.onInterrupt = undefined;
  const since = await findBatch(temporal, batch);
  if (since !== undefined && since.runId !== before?.runId && since.status.name !== "RUNNING") {
    throw badInput(
      `${batch} was started by somebody else meanwhile, and has ended: see ${commandLine("payouts", "status", batch)}. Nothing was started.`,
    );
  }
  await startBatch(temporal, checked, flags, overruling);
  output.live(undefined);
  output.say(wrap(`Started ${batch}: ${found.new} of ${rows} rows, in all ${totalsText(totals)}.`));
  return await reportOn(temporal, batch, output, flags);
};

/** Checks a bulk file, and pays its rows unless they are known. */
export const importBatch = async (output: Output, flags: ImportFlags): Promise<number> => {
  checkResultFile(flags.result);
  const checked = await checkBulkFile(flags.file, counting(output, "checked row"));
  output.live(undefined);
  if (flags.dryRun) return await dryRun(output, checked, flags);
  return await withTemporal((temporal) => submit(temporal, checked, output, flags));
};
