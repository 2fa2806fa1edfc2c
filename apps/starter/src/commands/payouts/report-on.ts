import {
  type BatchReport,
  isEachPaid,
  reportBatch,
  rowsOfBatch,
  withRows,
  writeResultFile,
} from "@durable-payments/operations/batch";
import { isOpen } from "@durable-payments/operations/runs";
import { type Temporal, withJournalOrNot } from "@durable-payments/operations/connection";
import type { BatchRow } from "@durable-payments/protocol";
import { EXIT_CODES } from "../../exit-codes.ts";
import { batchText } from "../../output/batch-text.ts";
import { commandLine } from "../../output/command-line.ts";
import { followBatch, showBatch } from "../../output/follow-batch.ts";
import { withNext } from "../../output/next-operation.ts";
import type { Output } from "../../output/output.ts";
import { readAccount } from "../../settings.ts";

/** The exit code of a command that reports a batch. */
export const exitCodeOfBatch = (report: BatchReport): number =>
  isOpen(report) || isEachPaid(report) ? EXIT_CODES.done : EXIT_CODES.runFailed;

/**
 * Write what became of each row; the journal of the account that pays them, where it can be read, has what Temporal has
 * forgotten.
 */
export const writeResults = async (
  temporal: Temporal,
  chunks: AsyncIterable<ReadonlyArray<BatchRow>>,
  file: string,
  account: string | undefined,
): Promise<void> => {
  const settings = await readAccount(account);
  await withJournalOrNot(settings.journal, ({ journal }) =>
    writeResultFile(temporal, chunks, {
      file,
      journal,
      wordNext: (next) => withNext({ message: "", next }).trim(),
    }),
  );
};

const answerReport = (
  output: Output,
  report: BatchReport,
  resultFile: string | undefined,
): number => {
  output.answer({ ...report, ...(resultFile !== undefined && { resultFile }) }, (shown) =>
    [
      batchText(shown),
      ...(resultFile === undefined ? [] : [`The result of each row: ${shown.resultFile}`]),
      ...(isOpen(report) ? [`See it: ${commandLine("payouts", "status", shown.workflowId)}`] : []),
    ].join("\n"),
  );
  return exitCodeOfBatch(report);
};

/** Report a batch, after its end if asked to, and write what became of each row. */
export const reportOn = async (
  temporal: Temporal,
  batch: string,
  output: Output,
  { result, wait }: { readonly result: string | undefined; readonly wait: boolean },
): Promise<number> => {
  const ended = wait
    ? await followBatch(temporal, batch, output)
    : await reportBatch(temporal, batch);
  const report = await withRows(temporal, ended, { wait, onUpdate: showBatch(output) });
  if (result !== undefined) {
    output.live(`… writing ${result}`);
    await writeResults(temporal, rowsOfBatch(temporal, batch), result, report.account);
  }
  return answerReport(output, report, result);
};
